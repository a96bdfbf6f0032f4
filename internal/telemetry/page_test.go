package telemetry

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/limits"
	"github.com/sequent-dev/sequent/llm"
	"github.com/sequent-dev/sequent/mcpserver"
)

// shown returns what a handler shows to Prometheus, as sorted lines.
func shown(t *testing.T, h http.Handler) []string {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if kind := w.Header().Get("Content-Type"); w.Code != http.StatusOK || !strings.HasPrefix(kind, "text/plain; version=0.0.4") {
		t.Fatalf("%d %s: %s", w.Code, kind, w.Body)
	}
	return slices.Sorted(strings.Lines(w.Body.String()))
}

// count returns how many lines begin with something.
func count(lines []string, prefix string) (n int) {
	for _, line := range lines {
		if strings.HasPrefix(line, prefix) {
			n++
		}
	}
	return n
}

// The page can be read by the parser of Prometheus, its linter finds nothing in it, and it has
// every metric that the documentation lists.
func TestPrometheus(t *testing.T) {
	quiet(t)
	tel, err := Start(t.Context(), Config{Prometheus: true, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer tel.Close()
	g := limits.New(limits.Config{})
	engine := sequent.New(sequent.Config{Store: tel.Store(sequent.NewMemoryStore(), "sqlite")})
	tel.Watch(Sources{
		Engine: engine.Stats, Limits: g.Stats, StoreSize: func() int64 { return 4096 },
	})
	observe(tel, call(overHTTP), func(_ context.Context, x *mcpserver.Exchange) { x.Tool = "sequentialthinking" })
	if _, err := engine.Session(t.Context(), "none"); !errors.Is(err, sequent.ErrNotFound) {
		t.Fatal(err)
	}
	for _, err := range tel.Model(answering{}, "openai").Stream(t.Context(), llm.Request{}) {
		if err != nil {
			t.Fatal(err)
		}
	}
	lines := shown(t, tel.Handler())
	w := httptest.NewRecorder()
	tel.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	problems, err := promlint.New(w.Body).Lint()
	problems = slices.DeleteFunc(problems, func(p promlint.Problem) bool { return strings.HasPrefix(p.Metric, "go_") }) // names of the conventions
	if err != nil || len(problems) > 0 {
		t.Errorf("promlint: %v %v", problems, err)
	}
	for _, m := range Metrics() {
		if count(lines, "# TYPE "+nameOnPage(m)+" "+m.Kind+"\n") != 1 {
			t.Errorf("no %s of %s", nameOnPage(m), m.Name)
		}
	}
	if count(lines, "go_memory_used_bytes{") == 0 {
		t.Error("the page has no metrics of the Go runtime")
	}
}
