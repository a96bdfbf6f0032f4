//go:build linux

package recipes

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sequent-dev/sequent/e2e/programtest"
	"github.com/sequent-dev/sequent/internal/needtest"
)

// docs/deploy.md links every file of packaging, and shows the settings that an operator edits.
func TestPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/deploy.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../../packaging/*/*")
	if err != nil || len(files) < 5 {
		t.Fatalf("packaging has the files %q: %v", files, err)
	}
	for _, file := range files {
		if link := "(" + filepath.ToSlash(strings.TrimPrefix(file, "../")) + ")"; !strings.Contains(string(page), link) {
			t.Errorf("docs/deploy.md has no link %s", link)
		}
	}
	if !strings.Contains(string(page), "\n"+recipe(t, "systemd/sequent.env")+"```\n") {
		t.Error("docs/deploy.md does not show packaging/systemd/sequent.env as it is")
	}
}

// systemd accepts the unit, and finds it well protected. The program has its flags.
func TestUnit(t *testing.T) {
	t.Parallel()
	analyze := needtest.Program(t, "systemd-analyze", "install Debian's package systemd")
	program := programtest.Build(t)
	dir := t.TempDir()
	text := recipe(t, "systemd/sequent.service")
	unit := filepath.Join(dir, "sequent.service")
	write(t, unit, strings.ReplaceAll(text, "/usr/local/bin/sequent", program))
	if out, err := exec.Command(analyze, "verify", "--man=no", unit).CombinedOutput(); err != nil || strings.Contains(string(out), "sequent.service") {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
	out := programtest.Output(t, exec.Command(analyze, "security", "--offline=true", "--no-pager", unit))
	m := regexp.MustCompile(`Overall exposure level for sequent\.service: ([0-9.]+)`).FindSubmatch(out)
	if m == nil {
		t.Fatalf("systemd-analyze security: %s", out)
	}
	if exposure, err := strconv.ParseFloat(string(m[1]), 64); err != nil || exposure >= 1.5 {
		t.Errorf("the unit's exposure is %s, want less than 1.5", m[1])
	}

	// The command and the variables of the unit and its environment are the program's.
	command := regexp.MustCompile(`(?m)^ExecStart=\S+ (.*)$`).FindStringSubmatch(text)
	if command == nil {
		t.Fatal("the unit starts nothing")
	}
	cmd := exec.Command(program, append(strings.Fields(command[1]), "--help")...)
	programtest.Output(t, cmd)
	help := string(programtest.Output(t, exec.Command(program, "serve", "--help-all")))
	variables := regexp.MustCompile(`\bSEQUENT_([A-Z_]+)\b`).FindAllStringSubmatch(text+recipe(t, "systemd/sequent.env")+recipe(t, "compose/compose.yaml"), -1)
	for _, v := range variables {
		if flag := "--" + strings.ReplaceAll(strings.ToLower(v[1]), "_", "-"); !strings.Contains(help, flag+" ") {
			t.Errorf("SEQUENT_%s: sequent serve has no flag %s", v[1], flag)
		}
	}
	stop := regexp.MustCompile(`TimeoutStopSec=(\d+)s`).FindStringSubmatch(text)
	drain := regexp.MustCompile(`SEQUENT_DRAIN=(\d+)s`).FindStringSubmatch(text)
	if stop == nil || drain == nil {
		t.Fatal("the unit has no TimeoutStopSec or no SEQUENT_DRAIN")
	}
	total, _ := strconv.Atoi(stop[1])
	first, _ := strconv.Atoi(drain[1])
	if total < first+15 { // docs/operating.md
		t.Errorf("the unit kills the server after %d s, want at least 15 s more than --drain, which is %d s", total, first)
	}
}

// A server tells the service manager when it is ready, that it runs and when it stops. SIGHUP
// does not end it.
func TestNotify(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "notify")
	manager, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer manager.Close()
	hear := func() string {
		t.Helper()
		if err := manager.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		buffer := make([]byte, 4096)
		n, err := manager.Read(buffer)
		if err != nil {
			t.Fatal(err)
		}
		return string(buffer[:n])
	}
	cmd := exec.Command(programtest.Build(t), "serve", "--http", "127.0.0.1:0", "--store", "memory")
	cmd.Env = append(os.Environ(), "NOTIFY_SOCKET="+path, "WATCHDOG_USEC=200000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill() //nolint:errcheck // it has ended, unless the test failed
	first := hear()
	for first == "WATCHDOG=1" {
		first = hear()
	}
	if !strings.HasPrefix(first, "READY=1\nSTATUS=serving http://127.0.0.1:") {
		t.Errorf("the first message is %q", first)
	}
	if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if got := hear(); got != "WATCHDOG=1" {
			t.Errorf("while the server runs, a message is %q", got)
		}
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	last := hear()
	for last == "WATCHDOG=1" {
		last = hear()
	}
	if !strings.HasPrefix(last, "STOPPING=1\n") {
		t.Errorf("the last message is %q", last)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// Compose accepts the file. Containers are not started: the tests have no daemon for them.
func TestCompose(t *testing.T) {
	t.Parallel()
	compose := needtest.Program(t, "docker-compose", "install Debian's package docker-compose")
	dir := t.TempDir()
	text := recipe(t, "compose/compose.yaml")
	write(t, filepath.Join(dir, "compose.yaml"), text)
	cmd := exec.Command(compose, "--file", filepath.Join(dir, "compose.yaml"), "config")
	out := string(programtest.Output(t, cmd))
	for _, want := range []string{"read_only: true", "condition: service_healthy", "no-new-privileges:true", "user: 65532:65532"} {
		if !strings.Contains(out, want) {
			t.Errorf("the configuration lacks %s:\n%s", want, out)
		}
	}
	if n := strings.Count(out, "read_only: true"); n != 2 {
		t.Errorf("%d services have a read-only root, want 2", n)
	}
	// The check that the container runs is a command of the program.
	check := regexp.MustCompile(`test: \[CMD, /sequent, ([\w, ]+)\]`).FindStringSubmatch(text)
	if check == nil {
		t.Fatal("the container is not checked")
	}
	words := strings.Split(check[1], ", ")
	usage := "sequent " + strings.Join(words, " ")
	if help := string(programtest.Output(t, exec.Command(programtest.Build(t), append(words, "--help")...))); !strings.Contains(help, usage) {
		t.Errorf("%s has the help\n%s", usage, help)
	}
}

// A stream with a heartbeat every 20 seconds outlives the time-outs of the recipes.
func TestTimeouts(t *testing.T) {
	t.Parallel()
	for name, settings := range map[string][]string{
		"nginx/sequent.conf": {"proxy_read_timeout (\\S+);", "proxy_send_timeout (\\S+);"},
		"caddy/Caddyfile":    {"response_header_timeout (\\S+)"},
	} {
		for _, setting := range settings {
			m := regexp.MustCompile(setting).FindStringSubmatch(recipe(t, name))
			if m == nil {
				t.Errorf("%s lacks %s", name, setting)
				continue
			}
			if d, err := time.ParseDuration(m[1]); err != nil || d < time.Minute {
				t.Errorf("%s: %s is %s, want at least a minute", name, setting, m[1])
			}
		}
	}
	for _, setting := range []string{"read_timeout", "write_timeout", "flush_interval"} {
		if strings.Contains(recipe(t, "caddy/Caddyfile"), setting) {
			t.Errorf("the Caddyfile has %s, which the test does not know", setting)
		}
	}
}
