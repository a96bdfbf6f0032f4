package counts

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"flag"
	"fmt"
	"io"
	"maps"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"modernc.org/sqlite"

	"github.com/sequent-dev/sequent/e2e/programtest"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/needtest"
)

var update = flag.Bool("update", false, "write table.txt from what is measured")

// warm is how many calls come before those that count.
const warm = 100

// A row is a kind of call.
type row struct {
	name           string
	dialect, store string // an empty store means a SQLite file
	http           bool
	calls          int // that count
}

var rows = []row{
	{name: "standard memory", dialect: "standard", store: "memory", calls: 400},
	{name: "standard SQLite", dialect: "standard", calls: 400},
	{name: "classic SQLite", dialect: "classic", calls: 400},
	{name: "guided SQLite", dialect: "guided", calls: 400},
	{name: "wiki SQLite", dialect: "wiki", calls: 100},
	{name: "standard memory HTTP", dialect: "standard", store: "memory", http: true, calls: 400},
}

// figures are the costs of one call, by name: allocations and bytes in the process of the
// server, commits and rows that SQLite inserts, updates and deletes, system calls on files and
// streams.
type figures map[string]float64

// What a busy machine makes of a figure, in parts of a call: chance is what the table leaves out, and
// rare how much more may come of what occurs less than once in two calls.
const (
	chance = 0.02
	rare   = 0.25
)

// TestCounts counts and compares with table.txt, of which it fails above a figure, and below 80 %
// of it: the table is there to see a price, and says it in the diff of a commit. It is not
// parallel: it counts allocations of the process.
func TestCounts(t *testing.T) {
	program := programtest.Build(t)
	strace := needtest.Program(t, "strace", "apt-get install strace")
	observe()
	table := readTable(t)
	var text strings.Builder
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			var got figures
			var wrong []string
			for range 3 { // other programs at work disturb
				got = make(figures)
				r.inProcess(t, got)
				r.traced(t, program, strace, got)
				if wrong = compare(got, table[r.name]); len(wrong) == 0 || *update {
					break
				}
			}
			for _, name := range slices.Sorted(maps.Keys(got)) {
				if got[name] >= chance {
					fmt.Fprintf(&text, "%s\t%s\t%.2f\n", r.name, name, allowed(name, got[name]))
				}
			}
			if !*update && len(wrong) > 0 {
				t.Error(strings.Join(wrong, "\n"))
			}
		})
	}
	if *update && !t.Failed() {
		if err := os.WriteFile("table.txt", []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// allowed is what -update allows of a figure: of allocations less than one more, or half a
// percent, which is what a write of a large note varies by.
func allowed(name string, got float64) float64 {
	if name == "allocations" {
		return max(got+0.9, 1.005*got)
	}
	return 1.08 * got
}

// readTable reads table.txt: a line for each figure, with tabs.
func readTable(t *testing.T) map[string]figures {
	text, err := os.ReadFile("table.txt")
	if err != nil && !*update {
		t.Fatal(err)
	}
	table := make(map[string]figures)
	for line := range strings.Lines(string(text)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) != 3 {
			t.Fatalf("table.txt has the line %q", line)
		}
		if table[fields[0]] == nil {
			table[fields[0]] = make(figures)
		}
		if table[fields[0]][fields[1]], err = strconv.ParseFloat(fields[2], 64); err != nil {
			t.Fatal(err)
		}
	}
	return table
}

// compare returns what is wrong: each figure that is above the table, or below 80 % of it. What
// occurs less than once in two calls varies, and so do reads: a busy machine hands over in one what
// an idle one hands over in two.
func compare(got, table figures) (wrong []string) {
	for _, name := range slices.Sorted(maps.Keys(table)) {
		n, most, least := got[name], table[name], table[name]*0.8
		if table[name] < 0.5 {
			most, least = most+rare, 0
		}
		if name == "read" {
			least = 0
		}
		if n > most || n < least {
			wrong = append(wrong, fmt.Sprintf("%s: %.2f a call, the table has %.2f", name, n, table[name]))
		}
	}
	for name, n := range got {
		if _, ok := table[name]; !ok && n > rare {
			wrong = append(wrong, fmt.Sprintf("%s: %.2f a call, the table has none", name, n))
		}
	}
	return wrong
}

// request returns a call that records a thought, in the session that the first one began.
func (r row) request(n int, session string) string {
	name, text, number, more := "sequentialthinking", "thought", n, ""
	if r.dialect == "wiki" {
		name, text, number = "sequential_thinking", "response", n-1
		if session != "" {
			more = fmt.Sprintf(`,"sessionId":%q`, session)
		}
	}
	if r.dialect == "guided" {
		more = `,"isRevision":false,"branchFromThought":null,"branchId":null,"needsMoreThoughts":false`
	}
	args := fmt.Sprintf(`"%s":"a thought on [[kind %d]], with some words","thoughtNumber":%d,"totalThoughts":1000,"nextThoughtNeeded":true%s`, text, n%10, number, more)
	const modern = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{%s},%s}}`, n, name, args, modern)
	if !r.http {
		return body + "\n"
	}
	return fmt.Sprintf("POST /mcp?scope=counts HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nMcp-Protocol-Version: 2026-07-28\r\n"+
		"Mcp-Method: tools/call\r\nMcp-Name: %s\r\nContent-Length: %d\r\n\r\n%s", name, len(body), body)
}

// A client makes calls without allocations.
type client struct {
	t    *testing.T
	r    row
	w    io.Writer
	in   *bufio.Reader
	made int
	next []string

	session string // that the first call began
}

// prepare makes the requests of the next calls.
func (c *client) prepare(n int) {
	c.next = c.next[:0]
	for i := range n {
		c.next = append(c.next, c.r.request(c.made+i+1, c.session))
	}
}

// call makes the calls that are prepared.
func (c *client) call() {
	for _, request := range c.next {
		c.made++
		if _, err := io.WriteString(c.w, request); err != nil {
			c.t.Fatal(err)
		}
		length := -1
		for {
			line, err := c.in.ReadSlice('\n')
			if err != nil {
				c.t.Fatal(err)
			}
			if value, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
				length, _ = strconv.Atoi(strings.TrimSpace(string(value)))
			}
			if c.r.http && len(line) == len("\r\n") {
				if line, err = c.in.Peek(length); err == nil {
					_, err = c.in.Discard(length)
				}
			} else if c.r.http {
				continue
			}
			if err != nil || !bytes.Contains(line, []byte(`"result"`)) || bytes.Contains(line, []byte(`"isError":true`)) {
				c.t.Fatalf("%s got %s, %v", request, line, err)
			}
			if m := sessionID.FindSubmatch(line); c.session == "" && m != nil {
				c.session = string(m[1])
			}
			break
		}
	}
}

// sessionID finds the session in a reply.
var sessionID = regexp.MustCompile(`"sessionId":"([^"]+)"`)

// config returns the configuration of a server below a folder.
func (r row) config(dir string) app.Config {
	c := app.Config{Store: r.store, Dialect: r.dialect, StoragePath: filepath.Join(dir, "files"), Vault: filepath.Join(dir, "vault")}
	if c.Store == "" {
		c.Store = filepath.Join(dir, "store.db")
	}
	return c
}

// inProcess serves calls in this process, and counts allocations, commits and rows.
func (r row) inProcess(t *testing.T, got figures) {
	cfg := r.config(t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	urls := make(chan string, 1)
	if r.http {
		cfg.HTTP = app.HTTPConfig{Addr: "127.0.0.1:0", Rate: -1, Ready: func(url string) { urls <- url }}
	}
	a, err := app.Open(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if _, err := a.Vaults(); err != nil { // nothing is written beside the calls
		t.Fatal(err)
	}
	done := make(chan error, 1)
	defer func() { cancel(); <-done }()
	c := &client{t: t, r: r}
	if r.http {
		go func() { done <- a.ServeHTTP(ctx) }()
		c.connect(<-urls)
	} else {
		inR, inW := io.Pipe()
		outR, outW := io.Pipe()
		defer inW.Close()
		go func() { done <- a.Serve(ctx, inR, outW) }()
		c.w, c.in = inW, bufio.NewReaderSize(outR, 1<<20)
	}
	c.prepare(1)
	c.call()
	c.prepare(warm)
	c.call()
	c.prepare(r.calls)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	commits, rows := written.commits.Load(), written.rows.Load()
	c.call()
	runtime.ReadMemStats(&after)
	n := float64(r.calls)
	got["allocations"], got["bytes"] = float64(after.Mallocs-before.Mallocs)/n, float64(after.TotalAlloc-before.TotalAlloc)/n
	got["commits"], got["rows"] = float64(written.commits.Load()-commits)/n, float64(written.rows.Load()-rows)/n
}

// connect connects to a server over HTTP.
func (c *client) connect(base string) {
	u, err := url.Parse(base)
	if err != nil {
		c.t.Fatal(err)
	}
	conn, err := net.Dial("tcp", u.Host)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = conn.Close() })
	c.w, c.in = conn, bufio.NewReaderSize(conn, 1<<20)
}

// written is what connections of SQLite in this process have written.
var written struct{ commits, rows atomic.Int64 }

// observe has the driver of SQLite count.
func observe() {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		panic(err)
	}
	defer db.Close()
	db.Driver().(*sqlite.Driver).RegisterConnectionHook(func(c sqlite.ExecQuerierContext, _ string) error {
		hooks := c.(sqlite.HookRegisterer)
		hooks.RegisterPreUpdateHook(func(sqlite.SQLitePreUpdateData) { written.rows.Add(1) })
		hooks.RegisterCommitHook(func() int32 { written.commits.Add(1); return 0 })
		return nil
	})
}

// traced runs the program under strace, and counts its system calls on files and streams.
func (r row) traced(t *testing.T, program, strace string, got figures) {
	dir := t.TempDir()
	cfg := r.config(dir)
	log := filepath.Join(dir, "strace")
	traced := filepath.Join(dir, "traced")
	// The program stays the child of the test. Without inotify, nothing is written beside the calls.
	script := fmt.Sprintf("#!/bin/sh\nexec '%s' -D -f -y -qq -o '%s' -e signal=none -e trace=%s -e inject=inotify_init1:error=EMFILE '%s' \"$@\"\n",
		strace, log, "%file,inotify_init1,read,write,pread64,pwrite64,writev,fsync,fdatasync,flock,ftruncate,close,getdents64,fstat", program)
	if err := os.WriteFile(traced, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	args := []string{"serve", "--dialect", r.dialect, "--store", cfg.Store}
	switch r.dialect {
	case "classic":
		args = append(args, "--storage-path", cfg.StoragePath)
	case "wiki":
		args = append(args, "--vault", cfg.Vault)
	}
	c := &client{t: t, r: r}
	if r.http {
		server := programtest.StartHTTP(t, traced, append(args[1:], "--rate", "0")...)
		t.Cleanup(func() { server.Stop(t) })
		c.connect(server.URL)
	} else {
		cmd := exec.Command(traced, args...)
		cmd.Dir = dir
		in, inErr := cmd.StdinPipe()
		out, outErr := cmd.StdoutPipe()
		if inErr != nil || outErr != nil || cmd.Start() != nil {
			t.Fatal("the server does not start")
		}
		t.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
		c.w, c.in = in, bufio.NewReaderSize(out, 1<<20)
	}
	c.prepare(1)
	c.call()
	c.prepare(warm)
	c.call()
	before, err := os.Stat(log)
	if err != nil {
		t.Fatal(err)
	}
	c.prepare(r.calls)
	c.call()
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(text[before.Size():]) {
		// A stream that is not ready is tried, and a thread woken, as often as the scheduler likes.
		scheduled := bytes.Contains(line, []byte("EAGAIN")) || bytes.Contains(line, []byte("[eventfd]"))
		if m := name.FindSubmatch(line); m != nil && !scheduled {
			got[string(m[1])] += 1 / float64(r.calls)
		}
	}
}

// name finds the name of a system call in a line of strace.
var name = regexp.MustCompile(`^\d+ +([a-z0-9_]+)\(`)
