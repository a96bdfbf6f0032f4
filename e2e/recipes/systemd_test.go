//go:build linux

package recipes

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent/e2e/machinetest"
	"github.com/sequent-dev/sequent/e2e/programtest"
)

// systemd runs the unit on a machine on which the commands of docs/deploy.md were typed.
func TestSystemd(t *testing.T) {
	t.Parallel()
	u := install(t)
	for _, step := range []struct {
		name string
		run  func(*unit, *testing.T)
	}{
		{"ready", (*unit).testReady}, {"reload", (*unit).testReload}, {"tokens", (*unit).testTokens}, {"state", (*unit).testState},
		{"kill", (*unit).testKill}, {"watchdog", (*unit).testWatchdog}, {"stop", (*unit).testStop}, {"TLS", (*unit).testTLS},
		{"database", (*unit).testDatabase}, {"mistake", (*unit).testMistake},
	} {
		if !t.Run(step.name, func(t *testing.T) { step.run(u, t) }) {
			return
		}
	}
}

// install boots a machine and types the commands of docs/deploy.md, which start the unit.
func install(t *testing.T) *unit {
	t.Helper()
	m := machinetest.New(t)
	t.Cleanup(func() {
		if t.Failed() {
			log, _ := m.Command("journalctl", "--no-pager", "--lines=60", "--unit=sequent").CombinedOutput()
			t.Logf("the journal:\n%s", log)
		}
	})
	u := &unit{Machine: m, url: "http://127.0.0.1:8080", caller: m.Client()}
	program, err := os.ReadFile(programtest.Build(t))
	if err != nil {
		t.Fatal(err)
	}
	m.Write(t, "/root/sequent", program, 0o755)
	for _, name := range []string{"systemd/sequent.service", "systemd/sequent.env"} {
		m.Write(t, "/root/packaging/"+name, []byte(recipe(t, name)), 0o644)
	}
	commands := commandsOf(t, "systemd")
	u.token = tokenIn.FindString(m.Run(t, commands[0]))
	if u.token == "" {
		t.Fatal("the commands print no token")
	}
	return u
}

var tokenIn = regexp.MustCompile(`sequent_[0-9A-Za-z_]+`)

// commandsOf returns the commands of a section of docs/deploy.md.
func commandsOf(t *testing.T, section string) []string {
	t.Helper()
	page, err := os.ReadFile("../../docs/deploy.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, found := strings.Cut(string(page), "\n## "+section+"\n")
	text, _, _ = strings.Cut(text, "\n## ")
	var commands []string
	for _, m := range regexp.MustCompile("(?s)\n```sh\n(.*?)```\n").FindAllStringSubmatch(text, -1) {
		if !strings.HasPrefix(m[1], "# /etc/") { // a file
			commands = append(commands, m[1])
		}
	}
	if !found || len(commands) == 0 {
		t.Fatalf("docs/deploy.md has no commands in a section %q", section)
	}
	return commands
}

// A unit is sequent.service on a machine.
type unit struct {
	*machinetest.Machine
	url     string
	caller  *http.Client
	token   string
	session string
	count   int // thoughts in the session
}

// property returns what systemd says of the unit.
func (u *unit) property(t *testing.T, name string) string {
	t.Helper()
	return strings.TrimSpace(u.Run(t, "systemctl show --value --property="+name+" sequent"))
}

// record records a thought and checks how many the session has.
func (u *unit) record(t *testing.T) {
	t.Helper()
	u.session = think(t, u.caller, u.url+"/mcp", u.token, fmt.Sprint("Thought of the unit ", u.count), u.session)
	u.count++
	if got := u.thoughts(t); got != u.count {
		t.Errorf("the session has %d thoughts, want %d", got, u.count)
	}
}

// thoughts returns how many thoughts the session has in the store.
func (u *unit) thoughts(t *testing.T) int {
	t.Helper()
	out := u.Run(t, "runuser -u sequent -- env XDG_DATA_HOME=/var/lib/sequent sequent show --owner alice --json "+u.session)
	var shown struct{ Session struct{ Thoughts int } }
	if err := json.Unmarshal([]byte(out), &shown); err != nil {
		t.Fatalf("show prints %.500s, %v", out, err)
	}
	return shown.Session.Thoughts
}

// restarted waits until systemd has started the unit again and the unit is ready.
func (u *unit) restarted(t *testing.T, before int) {
	t.Helper()
	await(t, "systemd restarts the unit", func() bool { return u.restarts(t) > before })
	u.mended(t)
}

func (u *unit) restarts(t *testing.T) int {
	t.Helper()
	n, err := strconv.Atoi(u.property(t, "NRestarts"))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// The unit is ready as soon as the command that starts it ends.
func (u *unit) testReady(t *testing.T) {
	if got := u.property(t, "StatusText"); got != "serving http://127.0.0.1:8080/mcp" {
		t.Errorf("the status is %q", got)
	}
	u.record(t)
	if got := u.Run(t, "runuser -u nobody -- sequent server health"); !strings.Contains(got, "ready") {
		t.Errorf("server health prints %q", got)
	}
	for _, commands := range commandsOf(t, "systemd")[1:] {
		u.Run(t, commands)
	}
	// What the unit does not need is closed to it.
	pid := u.property(t, "MainPID")
	status := u.Run(t, "cat /proc/"+pid+"/status")
	for _, want := range []string{"NoNewPrivs:\t1", "Seccomp:\t2", "CapEff:\t0000000000000000", "CapBnd:\t0000000000000000"} {
		if !strings.Contains(status, want+"\n") {
			t.Errorf("the process lacks %s:\n%s", want, status)
		}
	}
	mounts := u.Run(t, "cat /proc/"+pid+"/mounts")
	if !regexp.MustCompile(`(?m)^\S+ / \S+ ro,`).MatchString(mounts) || !regexp.MustCompile(`(?m)^\S+ /var/lib/sequent \S+ rw,`).MatchString(mounts) {
		t.Errorf("the process sees these mounts:\n%s", mounts)
	}
}

// A reload opens the audit log again and ends nothing, with and without one.
func (u *unit) testReload(t *testing.T) {
	pid := u.property(t, "MainPID")
	u.Run(t, "systemctl reload sequent")
	u.record(t)
	if got := u.property(t, "MainPID"); got != pid {
		t.Errorf("after the reload process %s is %s", pid, got)
	}
	u.Run(t, `printf 'SEQUENT_DRAIN=1s\nSEQUENT_AUDIT=/var/log/sequent/audit.log\n' >>/etc/sequent/sequent.env; systemctl restart sequent`)
	u.caller.CloseIdleConnections()
	u.record(t)
	u.Run(t, `cd /var/log/sequent; mv audit.log audit.log.1; systemctl reload sequent; until grep -q '"subject":"alice"' audit.log.1; do sleep 0.1; done`)
	u.record(t)
	u.Run(t, `cd /var/log/sequent; until grep -q '"subject":"alice"' audit.log; do sleep 0.1; done; test "$(stat -c %U:%a audit.log)" = sequent:600`)
}

// A token that is made while the unit runs admits.
func (u *unit) testTokens(t *testing.T) {
	bob := tokenIn.FindString(u.Run(t, "runuser -u sequent -- sequent server token new bob --file /var/lib/sequent/tokens"))
	await(t, "bob is admitted", func() bool {
		got, err := programtest.Do(u.caller, programtest.Request(t, u.url+"/mcp", bob, "tools/list", "", ""))
		return err == nil && got.Status == http.StatusOK
	})
}

// The unit can write everywhere where the program does: notes, the index, files of sessions.
func (u *unit) testState(t *testing.T) {
	got, err := programtest.Do(u.caller, programtest.Request(t, u.url+"/mcp/wiki", u.token, "tools/call", "sequential_thinking",
		`"name":"sequential_thinking","arguments":{"response":"A note about [[Mounts]]","nextThoughtNeeded":true,"thoughtNumber":0,"totalThoughts":2}`))
	if err != nil || got.Status != http.StatusOK || strings.Contains(got.Body, `"isError":true`) {
		t.Errorf("a note: got %d %.500s, %v", got.Status, got.Body, err)
	}
	u.Run(t, `find /var/lib/sequent -name '*.md' | grep -q .`)
	u.Run(t, `! journalctl --unit=sequent --output=cat | grep -E 'level=(WARN|ERROR)'`)
}

// Killed, the unit comes back with everything that it has acknowledged.
func (u *unit) testKill(t *testing.T) {
	before := u.restarts(t)
	u.Run(t, "systemctl kill --signal=KILL sequent")
	u.restarted(t, before)
}

// A process that hangs is replaced.
func (u *unit) testWatchdog(t *testing.T) {
	u.Run(t, `mkdir -p /run/systemd/system/sequent.service.d
		printf '[Service]\nWatchdogSec=4s\n' >/run/systemd/system/sequent.service.d/test.conf
		systemctl daemon-reload; systemctl restart sequent`)
	u.caller.CloseIdleConnections()
	u.record(t)
	before := u.restarts(t)
	time.Sleep(5 * time.Second) // longer than the watchdog waits
	if got := u.restarts(t); got != before {
		t.Errorf("the watchdog restarted a unit that runs %d times", got-before)
	}
	u.Run(t, "systemctl kill --signal=STOP --kill-who=main sequent")
	u.restarted(t, before)
	if log := u.Run(t, "journalctl --unit=sequent --output=cat"); !strings.Contains(log, "Watchdog timeout") || !strings.Contains(log, "goroutine ") {
		t.Error("the journal lacks the watchdog or the stacks of the process that hung")
	}
	u.Run(t, "rm -r /run/systemd/system/sequent.service.d; systemctl daemon-reload; systemctl restart sequent")
	u.caller.CloseIdleConnections()
}

// A stop waits for SEQUENT_DRAIN, ends in time and loses nothing that was acknowledged.
func (u *unit) testStop(t *testing.T) {
	u.record(t)
	at := time.Now()
	u.Run(t, "systemctl stop sequent")
	took := time.Since(at)
	if result := u.property(t, "Result"); result != "success" || took < time.Second || took > 20*time.Second {
		t.Errorf("the stop took %v, result %s; want at least SEQUENT_DRAIN and success", took, result)
	}
	u.Run(t, "systemctl start sequent")
	u.caller.CloseIdleConnections()
	u.record(t)
}

// With the lines of docs/deploy.md the unit serves TLS, and reads a renewed certificate.
func (u *unit) testTLS(t *testing.T) {
	dir := t.TempDir()
	commands := commandsOf(t, "TLS without a proxy")
	for step, when := range []string{"the unit serves TLS", "the renewed certificate is served"} {
		pool := x509.NewCertPool()
		certify(t, pool, filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"))
		for _, name := range []string{"cert.pem", "key.pem"} {
			text, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			u.Write(t, "/root/"+name, text, 0o600)
		}
		u.Run(t, commands[step])
		u.url = "https://127.0.0.1:8080"
		u.caller.CloseIdleConnections()
		u.caller = u.Client()
		u.caller.Transport.(*http.Transport).TLSClientConfig = &tls.Config{RootCAs: pool, ServerName: site}
		await(t, when, func() bool {
			_, err := programtest.Do(u.caller, programtest.Request(t, u.url+"/mcp", u.token, "tools/list", "", ""))
			return err == nil
		})
		u.record(t)
	}
	u.url = "http://127.0.0.1:8080"
	u.Run(t, `sed -i /SEQUENT_TLS/d /etc/sequent/sequent.env; systemctl restart sequent`)
	u.caller.CloseIdleConnections()
	u.record(t)
}

// A database that is not there yet is waited for.
func (u *unit) testDatabase(t *testing.T) {
	u.Run(t, `echo 'SEQUENT_STORE=postgres://sequent@localhost/sequent?host=/run/nowhere' >>/etc/sequent/sequent.env; systemctl restart --no-block sequent`)
	await(t, "systemd tries again", func() bool { return u.restarts(t) >= 1 })
	if log := u.Run(t, "journalctl --unit=sequent --output=cat --lines=20"); !strings.Contains(log, "unreachable") {
		t.Errorf("the journal does not name the database:\n%s", log)
	}
	u.Run(t, `sed -i /SEQUENT_STORE/d /etc/sequent/sequent.env`)
	u.mended(t)
}

// A mistake in the settings is reported by the command and in the journal. Once it is mended,
// the unit starts, however often it was tried.
func (u *unit) testMistake(t *testing.T) {
	u.Run(t, `echo SEQUENT_RETAIN=soon >>/etc/sequent/sequent.env; ! systemctl restart sequent`)
	await(t, "systemd tries more often than the five times of its default", func() bool { return u.restarts(t) >= 6 })
	if log := u.Run(t, "journalctl --unit=sequent --output=cat --lines=20"); !strings.Contains(log, "soon") {
		t.Errorf("the journal does not name the mistake:\n%s", log)
	}
	u.Run(t, `sed -i /SEQUENT_RETAIN/d /etc/sequent/sequent.env`)
	u.mended(t)
}

// mended waits until the unit runs again.
func (u *unit) mended(t *testing.T) {
	t.Helper()
	await(t, "the unit starts", func() bool { return u.property(t, "ActiveState") == "active" })
	u.caller.CloseIdleConnections()
	u.record(t)
}
