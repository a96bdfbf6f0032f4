//go:build linux

package recipes

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sequent-dev/sequent/e2e/programtest"
	"github.com/sequent-dev/sequent/internal/pgtest"
)

// What goes wrong on a machine ends with clear errors: nothing that was acknowledged is lost, and
// the same process goes on when the fault is over.
func TestFaults(t *testing.T) {
	t.Parallel()
	u := install(t)
	u.Run(t, `systemctl stop sequent
		mkdir -p /run/systemd/system/sequent.service.d
		printf '[Service]\nLimitNOFILE=64\n' >/run/systemd/system/sequent.service.d/test.conf
		printf 'SEQUENT_DRAIN=0\nSEQUENT_AUDIT=/var/log/sequent/audit.log\n' >>/etc/sequent/sequent.env
		cp -a /var/lib/sequent/tokens /root/tokens
		mount -t tmpfs -o size=48m,mode=700,uid=$(id -u sequent),gid=$(id -g sequent) tmpfs /var/lib/sequent
		mount -t tmpfs -o size=128k,mode=700,uid=$(id -u sequent),gid=$(id -g sequent) tmpfs /var/log/sequent
		cp -a /root/tokens /var/lib/sequent/tokens
		systemctl daemon-reload; systemctl start sequent`)
	pid := u.property(t, "MainPID")
	for _, step := range []struct {
		name string
		run  func(*unit, *testing.T)
	}{
		{"audit", (*unit).testFullAudit}, {"disk", (*unit).testFullDisk}, {"files", (*unit).testFiles}, {"certificate", (*unit).testCertificate},
	} {
		t.Run(step.name, func(t *testing.T) { step.run(u, t) })
		if step.name == "files" && u.property(t, "MainPID") != pid {
			t.Error("a fault ended the process")
		}
	}
}

// writers record thoughts without pause, each in a session of its own, until they are stopped.
type writers struct {
	acknowledged, refused atomic.Int64
	stop                  context.CancelFunc
	wait                  sync.WaitGroup

	mu       sync.Mutex
	thoughts map[string][]string // acknowledged, by session
	errors   map[string]bool     // what refusals say
}

// startWriters starts four writers.
func startWriters(t *testing.T, s *setup, token string, client func() *http.Client) *writers {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	w := &writers{stop: stop, thoughts: map[string][]string{}, errors: map[string]bool{}}
	t.Cleanup(func() { stop(); w.wait.Wait() })
	for i := range 4 {
		w.wait.Go(func() {
			session, caller := "", client()
			defer caller.CloseIdleConnections()
			for n := 0; ctx.Err() == nil; n++ {
				text := fmt.Sprintf("Writer %d, thought %d.%s", i, n, strings.Repeat(" It fills the disk.", 10))
				status, _, body, err := do(caller, s.request(t, token, "tools/call", "sequentialthinking", thinking(text, session)))
				if status == http.StatusTooManyRequests { // on a fast machine
					time.Sleep(10 * time.Millisecond)
					continue
				}
				m := replyOf.FindStringSubmatch(body)
				if err != nil || status != http.StatusOK || m == nil || strings.Contains(body, `"isError":true`) {
					w.refused.Add(1)
					w.mu.Lock()
					w.errors[fmt.Sprintf("%d %.600s %v", status, body, err)] = true
					w.mu.Unlock()
					continue
				}
				session = cmp.Or(session, m[1])
				w.acknowledged.Add(1)
				w.mu.Lock()
				w.thoughts[session] = append(w.thoughts[session], text)
				w.mu.Unlock()
			}
		})
	}
	return w
}

// progress waits until more calls were acknowledged.
func (w *writers) progress(t *testing.T) {
	t.Helper()
	was := w.acknowledged.Load()
	await(t, "calls are acknowledged", func() bool { return w.acknowledged.Load() >= was+20 })
}

// end stops the writers and checks that a store has what was acknowledged, in order. show
// returns a session as JSON.
func (w *writers) end(t *testing.T, show func(session string) string) {
	t.Helper()
	w.stop()
	w.wait.Wait()
	for session, want := range w.thoughts {
		var got struct{ Thoughts []struct{ Text string } }
		if err := json.Unmarshal([]byte(show(session)), &got); err != nil {
			t.Fatal(err)
		}
		next := 0
		for _, th := range got.Thoughts {
			if next < len(want) && th.Text == want[next] {
				next++
			}
		}
		if next != len(want) {
			t.Errorf("session %s lacks %d of %d thoughts that were acknowledged: %.60q", session, len(want)-next, len(want), want[next])
		}
	}
	t.Logf("%d thoughts acknowledged, %d calls refused", w.acknowledged.Load(), w.refused.Load())
}

// only fails the test unless each refusal contains one of the texts.
func (w *writers) only(t *testing.T, texts ...string) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for refusal := range w.errors {
		known := false
		for _, text := range texts {
			known = known || strings.Contains(refusal, text)
		}
		if !known {
			t.Errorf("a call was refused with %s", refusal)
		}
	}
}

func (u *unit) show(t *testing.T) func(string) string {
	return func(session string) string {
		return u.Run(t, "runuser -u sequent -- env XDG_DATA_HOME=/var/lib/sequent sequent show --owner alice --json "+session)
	}
}

// ready returns what /readyz says.
func (u *unit) ready(t *testing.T) string {
	t.Helper()
	res, err := u.caller.Get(u.url + "/readyz")
	if err != nil {
		return err.Error()
	}
	defer res.Body.Close()
	var answer json.RawMessage
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil {
		return err.Error()
	}
	return string(answer)
}

// On a full disk for the audit log calls go on. The lines are written later.
func (u *unit) testFullAudit(t *testing.T) {
	w := startWriters(t, u.setup, u.token, u.Client)
	await(t, "/readyz says that the audit log fails", func() bool { return strings.Contains(u.ready(t), `"auditFailing":true`) })
	w.progress(t)
	u.Run(t, "mount -o remount,size=64m /var/log/sequent")
	await(t, "the audit log works again", func() bool { return !strings.Contains(u.ready(t), "auditFailing") })
	w.end(t, u.show(t))
	w.only(t)
	acknowledged := int(w.acknowledged.Load())
	lines := u.Run(t, fmt.Sprintf(`for i in $(seq 50); do
		n=$(grep -c sequentialthinking /var/log/sequent/audit.log); [ $n -ge %d ] && break; sleep 0.2
	done; echo $n`, acknowledged))
	if n, err := strconv.Atoi(strings.TrimSpace(lines)); err != nil || n < acknowledged {
		t.Errorf("the audit log has %d lines, error %v; %d calls were acknowledged", n, err, acknowledged)
	}
	u.Run(t, "! grep lostLines /var/log/sequent/audit.log")
}

// On a full disk for the store calls are refused with the reason, and go on when there is room.
func (u *unit) testFullDisk(t *testing.T) {
	w := startWriters(t, u.setup, u.token, u.Client)
	w.progress(t)
	u.Run(t, "dd if=/dev/zero of=/var/lib/sequent/filler bs=4k 2>/dev/null || true")
	await(t, "calls are refused", func() bool { return w.refused.Load() >= 20 })
	u.Run(t, "rm /var/lib/sequent/filler")
	w.progress(t)
	w.end(t, u.show(t))
	w.only(t, "no space left", "STORE_FULL", "disk is full")
}

// Without free files the server refuses connections, and keeps those that it has.
func (u *unit) testFiles(t *testing.T) {
	w := startWriters(t, u.setup, u.token, u.Client)
	w.progress(t)
	held := make([]net.Conn, 0, 200)
	for range cap(held) {
		if conn, err := u.Dial(t.Context(), "tcp", "127.0.0.1:8080"); err == nil {
			held = append(held, conn)
		}
	}
	w.progress(t)
	for _, conn := range held {
		_ = conn.Close()
	}
	await(t, "a new client is served", func() bool {
		u.caller.CloseIdleConnections()
		return strings.Contains(u.ready(t), `"ready"`)
	})
	w.progress(t)
	w.end(t, u.show(t))
	w.only(t, "429", "connection", "EOF", "broken pipe")
}

// While clients connect without pause, a certificate is renewed. No call fails.
func (u *unit) testCertificate(t *testing.T) {
	dir := t.TempDir()
	secure := func() *http.Client {
		c := u.Client()
		tr := c.Transport.(*http.Transport)
		tr.TLSClientConfig, tr.DisableKeepAlives = &tls.Config{RootCAs: u.pool, ServerName: site}, true
		return c
	}
	renew := func() {
		t.Helper()
		// The pool of the clients has both authorities before the server has the certificate.
		u.pool = u.pool.Clone()
		u.renew(t, dir)
	}
	renew()
	u.Run(t, commandsOf(t, "TLS without a proxy")[0])
	u.url = "https://127.0.0.1:8080"
	old := startWriters(t, u.setup, u.token, secure)
	old.progress(t)
	renew()
	both := startWriters(t, u.setup, u.token, secure)
	both.progress(t)
	u.Run(t, commandsOf(t, "TLS without a proxy")[1])
	await(t, "clients that do not know the new authority are refused", func() bool { return old.refused.Load() > 0 })
	both.progress(t)
	old.end(t, u.show(t))
	old.only(t, "certificate signed by unknown authority", "unknown authority")
	both.end(t, u.show(t))
	both.only(t)
}

// A PostgreSQL server that is restarted under load costs refusals, and no thought.
func TestDatabaseRestart(t *testing.T) {
	t.Parallel()
	var own pgtest.Server
	t.Cleanup(func() {
		if err := own.Stop(); err != nil {
			t.Error(err)
		}
	})
	program, store := programtest.Build(t), own.Schema(t)
	tokens := filepath.Join(t.TempDir(), "tokens")
	token := newToken(t, program, tokens, "alice")
	server := programtest.StartHTTP(t, program, "--store", store, "--auth", tokens)
	t.Cleanup(func() { server.Stop(t) })
	s := &setup{url: strings.TrimSuffix(server.URL, "/mcp")}
	w := startWriters(t, s, token, func() *http.Client { return new(http.Client) })
	w.progress(t)
	for _, stop := range []func(testing.TB){own.Shutdown, own.Crash} {
		was := w.refused.Load()
		stop(t)
		await(t, "calls are refused", func() bool { return w.refused.Load() > was })
		own.Start(t)
		w.progress(t)
	}
	w.end(t, func(session string) string {
		return string(programtest.Output(t, exec.Command(program, "show", "--store", store, "--owner", "alice", "--json", session)))
	})
	w.only(t, "STORE_UNAVAILABLE", "unreachable", "INTERRUPTED")
}
