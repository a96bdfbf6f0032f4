//go:build linux

package recipes

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/sequent-dev/sequent/internal/needtest"
)

func nginx(t *testing.T, port string, addresses *strings.Replacer, cert, key string) avoider {
	t.Helper()
	program := needtest.Program(t, "nginx", "install Debian's package nginx-light")
	dir := t.TempDir()
	text := addresses.Replace(recipe(t, "nginx/sequent.conf"))
	text = strings.NewReplacer(
		"listen 443 ", "listen 127.0.0.1:"+port+" ", "listen 80;", "listen unix:"+dir+"/plain.sock;",
		"/etc/nginx/sequent.crt", cert, "/etc/nginx/sequent.key", key,
	).Replace(text)
	write(t, filepath.Join(dir, "sequent.conf"), text)
	user := ""
	if os.Getuid() == 0 {
		user = "user root;\n" // who can read the test's directories
	}
	write(t, filepath.Join(dir, "nginx.conf"), user+"daemon off;\npid "+dir+"/pid;\nerror_log stderr;\nevents {}\nhttp {\n\taccess_log off;\n\t"+
		"client_body_temp_path "+dir+"/body;\n\tproxy_temp_path "+dir+"/proxy;\n\tfastcgi_temp_path "+dir+"/f;\n\tuwsgi_temp_path "+dir+"/u;\n\t"+
		"scgi_temp_path "+dir+"/s;\n\tinclude "+dir+"/sequent.conf;\n}\n")
	process := run(t, program, "-p", dir, "-c", filepath.Join(dir, "nginx.conf"))
	return func(address string) {
		t.Helper()
		changed := text
		if address != "" {
			if changed = strings.Replace(text, "server "+address+" ", "server "+address+" down ", 1); changed == text {
				t.Fatalf("the recipe has no server %s", address)
			}
		}
		write(t, filepath.Join(dir, "sequent.conf"), changed)
		if err := process.Signal(syscall.SIGHUP); err != nil { // nginx -s reload
			t.Fatal(err)
		}
	}
}

func TestNginx(t *testing.T) {
	t.Parallel()
	testProxy(t, nginx)
}

func TestNginxAddresses(t *testing.T) {
	t.Parallel()
	testAddresses(t, nginx)
}
