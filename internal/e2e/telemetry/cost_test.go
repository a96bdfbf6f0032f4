//go:build linux

package telemetry_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sequent-dev/sequent/internal/e2e/programtest"
)

// A setting is one configuration whose cost is measured.
type setting struct {
	name    string
	program string
	env     []string
}

const (
	costBlocks = 15  // each gives one ratio
	costBursts = 100 // of a block: the settings take turns; a quarter of them with SQLite, which waits for the disk
	costCalls  = 30  // of a burst
)

// TestCost compares settings: the processor time that the server's process takes a call, all
// threads and what it does between calls included, and how long a client waits for a reply.
// The servers of all settings run side by side. They take turns after each burst of calls, in
// random order, so that other load of the machine meets all alike. A block of bursts is long
// enough for several exports and gives one ratio to the first setting, the program without
// the observer. The result is the median of these ratios with its quartiles. The tenth part of
// the bursts that cost least met no other load, and few exports: their costs are called quiet,
// and can be compared on a busy machine, too.
func TestCost(t *testing.T) {
	if os.Getenv("SEQUENT_LONG") == "" {
		t.Skip("run make benchtelemetry")
	}
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }))
	defer collector.Close()
	program := programtest.Build(t)
	otlp := "OTEL_EXPORTER_OTLP_ENDPOINT=" + collector.URL
	settings := []setting{
		{"not compiled", buildUnobserved(t), nil},
		{"off", program, nil},
		{"off again", program, nil}, // what it differs by is noise
		{"metrics", program, []string{otlp, "OTEL_TRACES_EXPORTER=none"}},
		{"on, 1 % of traces", program, []string{otlp, "OTEL_TRACES_SAMPLER=parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG=0.01"}},
		{"on, all traces", program, []string{otlp}},
	}
	if before := os.Getenv("SEQUENT_BEFORE"); before != "" { // a program that was built from an earlier commit
		settings = append(settings,
			setting{"before, 1 %", before, settings[4].env},
			setting{"before, all", before, settings[5].env})
	}
	for _, transport := range []string{"pipe", "HTTP"} {
		for _, store := range []string{"memory", "SQLite"} {
			t.Run(transport+"/"+store, func(t *testing.T) {
				servers := make([]*costServer, len(settings))
				for i, s := range settings {
					servers[i] = startCost(t, s, transport, store)
				}
				bursts := costBursts
				if store == "SQLite" {
					bursts /= 4
				}
				compare(t, settings, servers, bursts)
			})
		}
	}
}

// compare measures servers in turns and logs what their calls cost.
func compare(t *testing.T, settings []setting, servers []*costServer, bursts int) {
	for _, s := range servers {
		s.burst(t) // warm up
	}
	took := make([][]float64, len(servers)) // seconds a call, by block
	for range costBlocks {
		for _, s := range servers {
			s.block = s.spent(t)
		}
		for range bursts {
			for _, i := range rand.Perm(len(servers)) {
				servers[i].burst(t)
			}
		}
		for i, s := range servers {
			took[i] = append(took[i], (s.spent(t)-s.block).Seconds()/float64(bursts*costCalls))
		}
	}
	for i, s := range servers {
		ratios := make([]float64, costBlocks)
		for block := range ratios {
			ratios[block] = took[i][block] / took[0][block]
		}
		slices.Sort(ratios)
		slices.Sort(took[i])
		slices.Sort(s.waits)
		slices.Sort(s.quiet)
		tenth := func(s *costServer) float64 { return s.quiet[len(s.quiet)/10] }
		t.Logf("%-18s %6.1f µs a call, ratio %.3f (quartiles %.3f to %.3f); quiet %6.1f µs, ratio %.3f; a reply after %4.0f µs, 99th percentile %5.0f µs", settings[i].name,
			took[i][costBlocks/2]*1e6, ratios[costBlocks/2], ratios[costBlocks/4], ratios[3*costBlocks/4],
			tenth(s)*1e6, tenth(s)/tenth(servers[0]),
			s.waits[len(s.waits)/2].Seconds()*1e6, s.waits[len(s.waits)*99/100].Seconds()*1e6)
	}
	load, _ := os.ReadFile("/proc/loadavg")
	t.Logf("load of the machine %s", load)
}

// A costServer is a server whose calls are measured.
type costServer struct {
	cmd   *exec.Cmd
	call  func(i int) error // and waits for its reply
	stop  func() error
	calls int
	block time.Duration // spent at the beginning of the block
	waits []time.Duration
	quiet []float64 // seconds a call, by burst
}

// spent returns the processor time that the process has taken until now, with all its threads.
func (s *costServer) spent(t *testing.T) time.Duration {
	const schedulerClock = 2 // CPUCLOCK_SCHED, as in clock_getcpuclockid(3)
	var at unix.Timespec
	if err := unix.ClockGettime(int32(^s.cmd.Process.Pid<<3|schedulerClock), &at); err != nil {
		t.Fatal(err)
	}
	return time.Duration(at.Nano())
}

// burst has the server answer calls one after the other.
func (s *costServer) burst(t *testing.T) {
	before := s.spent(t)
	for range costCalls {
		begin := time.Now()
		if err := s.call(s.calls); err != nil {
			t.Fatal(err)
		}
		s.waits = append(s.waits, time.Since(begin))
		s.calls++
	}
	s.quiet = append(s.quiet, (s.spent(t)-before).Seconds()/costCalls)
}

// startCost starts the server of a setting.
func startCost(t *testing.T, s setting, transport, store string) *costServer {
	if store = strings.ToLower(store); store == "sqlite" {
		store = filepath.Join(t.TempDir(), "s.db")
	}
	args := []string{"serve", "--store", store}
	var addr string
	if transport == "HTTP" {
		addr = "127.0.0.1:" + programtest.FreePort(t)
		args = append(args, "--http", addr, "--rate", "0")
	}
	server := &costServer{cmd: exec.Command(s.program, args...)}
	server.cmd.Env = append(append(os.Environ(), "DISABLE_THOUGHT_LOGGING=true"), s.env...)
	server.cmd.Dir = filepath.Dir(s.program)
	if transport == "HTTP" {
		server.onHTTP(t, addr)
	} else {
		server.onPipe(t)
	}
	t.Cleanup(func() {
		if err := server.stop(); err != nil {
			t.Error(err)
		}
		if err := server.cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
	return server
}

// costCall is a request of the modern era that records a thought of 200 bytes.
func costCall(i int) string {
	line := request{fmt.Sprint(i), "tools/call", "sequentialthinking", `"name":"sequentialthinking","arguments":{"thought":"` + strings.Repeat("x", 200) + `","nextThoughtNeeded":true}`}.line(true)
	return strings.Replace(line, `"traceparent":"`+traceparent+`",`, "", 1) // or each is sampled, as its parent
}

// onPipe starts a server that answers calls on a pipe.
func (s *costServer) onPipe(t *testing.T) {
	in, err := s.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	replies := bufio.NewReader(out)
	s.call = func(i int) error {
		if _, err := io.WriteString(in, costCall(i)+"\n"); err != nil {
			return err
		}
		line, err := replies.ReadString('\n')
		if err == nil && !strings.Contains(line, "thoughtHistoryLength") {
			err = fmt.Errorf("the reply: %s", line)
		}
		return err
	}
	s.stop = in.Close
}

// onHTTP starts a server that answers calls over HTTP.
func (s *costServer) onHTTP(t *testing.T, addr string) {
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if res, err := http.Get("http://" + addr + "/healthz"); err == nil {
			res.Body.Close()
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the server does not start")
		}
	}
	s.call = func(i int) error {
		req, err := http.NewRequest(http.MethodPost, "http://"+addr+"/mcp?scope=cost", strings.NewReader(costCall(i)))
		if err != nil {
			return err
		}
		for name, value := range map[string]string{
			"Content-Type": "application/json", "Accept": "application/json", "Mcp-Protocol-Version": "2026-07-28",
			"Mcp-Method": "tools/call", "Mcp-Name": "sequentialthinking",
		} {
			req.Header.Set(name, value)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err == nil && res.StatusCode != http.StatusOK {
			err = fmt.Errorf("%s: %s", res.Status, body)
		}
		return err
	}
	s.stop = func() error {
		http.DefaultClient.CloseIdleConnections()
		return s.cmd.Process.Signal(os.Interrupt)
	}
}

// buildUnobserved builds the program without the calls of an observer: the two functions that
// ask whether there is one say no, which the compiler sees.
func buildUnobserved(t *testing.T) string {
	const file = "../../../mcpserver/internal/method/observe.go"
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := string(source)
	for old, without := range map[string]string{
		"func (s *Server) Observed() bool { return s.observer != nil }": "func (s *Server) Observed() bool { return false }",
		"if s.observer == nil {\n\t\treturn ctx, nil\n\t}":              "if true {\n\t\treturn ctx, nil\n\t}",
	} {
		if strings.Count(text, old) != 1 {
			t.Fatalf("%s no longer has %q", file, old)
		}
		text = strings.Replace(text, old, without, 1)
	}
	dir := t.TempDir()
	changed, overlay, program := filepath.Join(dir, "observe.go"), filepath.Join(dir, "overlay.json"), filepath.Join(dir, "sequent")
	original, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {original: changed}})
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{changed: []byte(text), overlay: replace} {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	programtest.Output(t, exec.Command("go", "build", "-overlay", overlay, "-o", program, "github.com/sequent-dev/sequent/cmd/sequent"))
	return program
}
