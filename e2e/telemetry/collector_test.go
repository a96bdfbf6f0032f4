// Package telemetry_test has the program export to a real OpenTelemetry Collector.
package telemetry_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/sequent-dev/sequent/e2e/programtest"
)

// A sink takes what a collector passes on.
type sink struct {
	*httptest.Server

	mu      sync.Mutex
	raw     bytes.Buffer
	spans   []*tracepb.Span
	metrics []string // names
}

func newSink(t *testing.T) *sink {
	s := new(sink)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.raw.Write(body)
		switch r.URL.Path {
		case "/v1/traces":
			var m tracepb.TracesData
			if err := proto.Unmarshal(body, &m); err != nil {
				t.Error(err)
			}
			for _, of := range m.ResourceSpans {
				for _, in := range of.ScopeSpans {
					s.spans = append(s.spans, in.Spans...)
				}
			}
		case "/v1/metrics":
			var m metricspb.MetricsData
			if err := proto.Unmarshal(body, &m); err != nil {
				t.Error(err)
			}
			for _, of := range m.ResourceMetrics {
				for _, in := range of.ScopeMetrics {
					for _, metric := range in.Metrics {
						s.metrics = append(s.metrics, metric.Name)
					}
				}
			}
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// attribute returns an attribute that is a string, or "".
func attribute(all []*commonpb.KeyValue, key string) string {
	i := slices.IndexFunc(all, func(a *commonpb.KeyValue) bool { return a.Key == key })
	if i < 0 {
		return ""
	}
	return all[i].Value.GetStringValue()
}

// buildCollector builds the collector from its published modules. The first time takes a
// minute; then they are in the build cache.
func buildCollector(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for file, as := range map[string]string{"main.go": "main.go", "collector.mod": "go.mod", "collector.sum": "go.sum"} {
		text, err := os.ReadFile(filepath.Join("testdata/collector", file))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, as), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(dir, "collector")
	build := exec.Command("go", "build", "-trimpath", "-o", path, ".")
	build.Dir = dir
	build.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0")
	programtest.Output(t, build)
	return path
}

// startCollector starts a collector that passes on to a sink, and returns its URL and what
// ends it. By then everything is passed on.
func startCollector(t *testing.T, to *sink) (url string, stop func()) {
	t.Helper()
	program := buildCollector(t)
	for try := range 3 { // somebody else can take the port
		addr := "127.0.0.1:" + programtest.FreePort(t)
		config := filepath.Join(t.TempDir(), fmt.Sprintf("collector-%d.yaml", try))
		text := fmt.Sprintf(`receivers:
  otlp:
    protocols:
      http:
        endpoint: %s
exporters:
  otlp_http:
    endpoint: %s
    compression: none
    sending_queue:
      enabled: false
service:
  telemetry:
    metrics:
      level: none
  pipelines:
    traces: {receivers: [otlp], exporters: [otlp_http]}
    metrics: {receivers: [otlp], exporters: [otlp_http]}
`, addr, to.URL)
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		cmd := exec.Command(program, config)
		cmd.Stderr = &log
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		if answers("http://"+addr+"/v1/traces", ended) {
			return "http://" + addr, func() {
				_ = cmd.Process.Signal(os.Interrupt)
				select {
				case <-ended:
				case <-time.After(time.Minute):
					_ = cmd.Process.Kill()
					t.Error("the collector does not end")
				}
			}
		}
		_ = cmd.Process.Kill()
		t.Logf("the collector did not start:\n%s", log.String())
	}
	t.FailNow()
	return "", nil
}

// answers waits until there is a server at url, and reports false if its process has ended.
func answers(url string, ended <-chan error) bool {
	for range 600 {
		select {
		case <-ended:
			return false
		case <-time.After(100 * time.Millisecond):
		}
		if res, err := http.Post(url, "application/x-protobuf", http.NoBody); err == nil {
			res.Body.Close()
			return true
		}
	}
	return false
}

// countBy returns how many spans have a name, by transport, protocol and version of MCP.
func (s *sink) countBy(name string) map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	count := make(map[string]int)
	for _, span := range s.spans {
		if span.Name == name {
			a := span.Attributes
			count[strings.TrimSpace(attribute(a, "network.transport")+" "+attribute(a, "network.protocol.name"))+" "+attribute(a, "mcp.protocol.version")]++
		}
	}
	return count
}
