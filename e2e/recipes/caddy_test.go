//go:build linux

package recipes

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent/internal/needtest"
)

func caddy(t *testing.T, port string, addresses *strings.Replacer, cert, key string) avoider {
	t.Helper()
	program := needtest.Program(t, "caddy", "install Debian's package caddy")
	file := filepath.Join(t.TempDir(), "Caddyfile")
	text := addresses.Replace(recipe(t, "caddy/Caddyfile"))
	if strings.Count(text, site+" {\n") != 1 {
		t.Fatalf("the recipe has no site %s", site)
	}
	// Instead of a certificate from an authority on the network.
	text = strings.Replace(text, site+" {\n", site+":"+port+" {\n\ttls "+cert+" "+key+"\n", 1)
	write(t, file, "{\n\tadmin off\n\tauto_https disable_redirects\n\tdefault_bind 127.0.0.1\n}\n"+text)
	run(t, program, "run", "--adapter", "caddyfile", "--config", file)
	return nil
}

func TestCaddy(t *testing.T) {
	t.Parallel()
	testProxy(t, caddy)
}

func TestCaddyAddresses(t *testing.T) {
	t.Parallel()
	testAddresses(t, caddy)
}
