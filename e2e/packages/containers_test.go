//go:build linux

package packages

import (
	_ "embed"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent/e2e/machinetest"
	"github.com/sequent-dev/sequent/e2e/programtest"
	"github.com/sequent-dev/sequent/internal/needtest"
)

//go:embed containers.sh
var containers string

// The compose file runs the image of the release and a database in containers, started with the
// commands of docs/deploy.md.
func TestContainers(t *testing.T) {
	t.Parallel()
	m := machinetest.New(t)
	needtest.Program(t, "podman", "install Debian's packages podman, crun and iptables")
	needtest.Program(t, "docker-compose", "install Debian's package docker-compose")
	for _, name := range []string{"netavark", "aardvark-dns"} {
		if _, err := os.Stat("/usr/lib/podman/" + name); err != nil {
			needtest.Missing(t, name+" is not installed", "install Debian's packages netavark and aardvark-dns")
		}
	}
	put := func(from, to string, mode os.FileMode) {
		t.Helper()
		text, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		m.Write(t, to, text, mode)
	}
	h := newHome(t)
	put(extract(t, h, "linux", runtime.GOARCH, "program"), "/usr/local/bin/sequent", 0o755)
	put(filepath.Join(release(t), "sequent_"+number+".oci.tar"), "/root/image.oci.tar", 0o644)
	put("../../packaging/compose/compose.yaml", "/root/compose.yaml", 0o644)
	m.Run(t, containers)

	page, err := os.ReadFile("../../docs/deploy.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "\n## Containers\n")
	commands := regexp.MustCompile("(?s)\n```sh\n(.*?)```\n").FindAllStringSubmatch(text, -1)
	if len(commands) != 2 {
		t.Fatal("docs/deploy.md lacks commands for containers")
	}
	t.Cleanup(func() {
		if t.Failed() {
			out, _ := m.Command("sh", "-c", "podman ps -a; docker-compose logs --no-color --tail=30; journalctl --no-pager --lines=30").CombinedOutput()
			t.Logf("the containers:\n%s", out)
		}
	})
	token := regexp.MustCompile(`sequent_[0-9A-Za-z_]+`).FindString(m.Run(t, "umask 022\n"+commands[0][1]))
	m.Run(t, `test "$(stat -c %a tokens password pgpass | sort -u)" = 600`)
	healthy := "until [ $(docker-compose ps | grep -c '(healthy)') = 2 ]; do sleep 0.5; done"
	m.Run(t, healthy)

	c := &caller{url: "http://127.0.0.1:8080/mcp", client: m.Client(), token: token}
	for n := range 3 {
		c.think(t, fmt.Sprint("Thought in a container ", n))
	}
	// A token of bob's is admitted as the page says.
	bob := *c
	bob.session, bob.token = "", regexp.MustCompile(`sequent_[0-9A-Za-z_]+`).FindString(m.Run(t, commands[1][1]))
	bob.think(t, "Thought of bob")
	// What the file says holds inside.
	out := m.Run(t, "cat /proc/$(podman inspect --format '{{.State.Pid}}' root_sequent_1)/{status,mounts}")
	for _, want := range []string{`Uid:\t65532\t65532`, `NoNewPrivs:\t1`, `CapEff:\t0000000000000000`, `CapBnd:\t0000000000000000`, `\S+ / \S+ ro,`} {
		if !regexp.MustCompile(`(?m)^` + want).MatchString(out) {
			t.Errorf("the process lacks %s:\n%s", want, out)
		}
	}
	// Killed, both come back by themselves.
	for _, name := range []string{"root_sequent_1", "root_database_1"} {
		m.Run(t, `pid() { podman inspect --format '{{.State.Pid}}' `+name+`; }
			was=$(pid); kill -9 $was
			until now=$(pid) && [ "$now" != 0 ] && [ "$now" != "$was" ]; do sleep 0.2; done`)
		c.think(t, "Thought after "+name+" was killed")
	}
	// Removed and created again, as for another version of the image, they keep the thoughts. A
	// stop ends the server with code 0, and not by SIGKILL.
	m.Run(t, `docker compose stop sequent; test "$(podman inspect --format '{{.State.ExitCode}}' root_sequent_1)" = 0`)
	m.Run(t, "docker compose down")
	m.Run(t, "docker compose up --detach")
	m.Run(t, healthy)
	c.think(t, "Thought in new containers")
	if got := c.recall(t); !strings.Contains(got, "Thought in a container 0") || !strings.Contains(got, "Thought in new containers") ||
		!strings.Contains(got, "Thought after root_sequent_1 was killed") || !strings.Contains(got, "Thought after root_database_1 was killed") {
		t.Errorf("recall answers %s", got)
	}
}

// A caller calls a server over HTTP, again while the server restarts.
type caller struct {
	url, token, session string
	client              *http.Client
	calls               int
}

func (c *caller) call(t *testing.T, name, params string) string {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(200 * time.Millisecond) {
		got, err := programtest.Do(c.client, programtest.Request(t, c.url, c.token, "tools/call", name, params))
		if err == nil && got.Status == http.StatusOK && !strings.Contains(got.Body, `"isError":true`) {
			return got.Body
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: no answer after a minute: %+v, %v", name, got, err)
		}
	}
}

// think records a thought, once.
func (c *caller) think(t *testing.T, thought string) {
	t.Helper()
	c.calls++
	params := strings.TrimSuffix(programtest.Thought(thought, c.session), "}") + fmt.Sprintf(`,"requestKey":"call %d"}`, c.calls)
	if m := sessionOf.FindStringSubmatch(c.call(t, "sequentialthinking", params)); m != nil {
		c.session = m[1]
	}
}

func (c *caller) recall(t *testing.T) string {
	t.Helper()
	return c.call(t, "recall_thinking", `"name":"recall_thinking","arguments":{"sessionId":"`+c.session+`"}`)
}
