package aisdk

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent/e2e/programtest"
	"github.com/sequent-dev/sequent/internal/needtest"
)

// A report is what portable.mjs returns.
type report struct {
	Apart, Unknown, Cleared, Empty bool
	Refusal                        string
	Thoughts, Branches, History    int
	Texts                          []string
	Ready, Call                    float64 // milliseconds
	Memory                         float64 // MiB
}

// check logs the figures of a report, and compares the rest.
func (r report) check(t *testing.T) {
	t.Helper()
	t.Logf("ready in %.0f ms, %.2f ms a call, %.0f MiB", r.Ready, r.Call, r.Memory)
	r.Ready, r.Call, r.Memory = 0, 0, 0
	want := report{
		Apart: true, Unknown: true, Cleared: true, Empty: true, Thoughts: 1, Branches: 1, History: 20,
		Refusal: "SequentialThinkingError INVALID_ARGUMENT thoughtNumber",
		Texts:   []string{"Orders fail at noon.", "日本語 👩‍👩‍👧‍👦"},
	}
	if !reflect.DeepEqual(r, want) {
		t.Errorf("got %+v, want %+v", r, want)
	}
}

// The tool works without a program in each engine for JavaScript, and lets the process end.
func testEngines(t *testing.T, f fixture) {
	for _, command := range [][]string{
		{f.node}, {"node"}, {"node_modules/.bin/bun"},
		{"node_modules/.bin/deno", "run", "--allow-read", "--allow-env"},
	} {
		t.Run(command[0], func(t *testing.T) {
			if _, err := exec.LookPath(command[0]); err != nil {
				needtest.Missing(t, command[0]+" is not installed", "run make npm")
			}
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, command[0], append(command[1:], "run.mjs", f.file)...)
			cmd.Env = append(os.Environ(), "SEQUENT_BIN=/no/such/program", "DENO_NO_UPDATE_CHECK=1")
			var got report
			if out := programtest.Output(t, cmd); json.Unmarshal(out, &got) != nil {
				t.Fatalf("run.mjs printed %s", out)
			}
			got.check(t)
		})
	}
}

// A page in a browser thinks with the tool.
func testPage(t *testing.T, f fixture) {
	browser := needtest.Program(t, "chromium", "install Chromium: apt-get install chromium")
	reports := make(chan []byte, 1)
	mux := http.NewServeMux()
	mux.Handle("GET /dist/", http.StripPrefix("/dist/", http.FileServer(http.Dir(filepath.Dir(f.path(t))))))
	mux.HandleFunc("GET /portable.mjs", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, "portable.mjs") })
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, `<!doctype html><script type="module">
			import { think } from './portable.mjs';
			const report = await think('./dist/index.js').catch((error) => String(error.stack));
			await fetch('/report', { method: 'POST', body: JSON.stringify(report) });
		</script>`)
	})
	mux.HandleFunc("POST /report", func(_ http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		reports <- text
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	// Helper processes of the browser may still write to it at the end, which makes t.TempDir fail.
	profile, err := os.MkdirTemp("", "sequent-chromium")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(profile)
	cmd := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
		"--no-first-run", "--user-data-dir="+profile, "--remote-debugging-port=0", server.URL)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	select {
	case text := <-reports:
		var got report
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatalf("the page says %s", text)
		}
		got.check(t)
	case <-ctx.Done():
		t.Fatal("the page does not answer")
	}
}

// The unit tests of the seed document pass as they stand, with the names that Bun takes for vitest.
func testSeedTests(t *testing.T, f fixture) {
	bun, err := filepath.Abs("node_modules/.bin/bun")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(bun); err != nil {
		needtest.Missing(t, "bun is not installed", "run make npm")
	}
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("sequential-thinking.ts", "export * from '"+f.path(t)+"';\n")
	write("seed.test.ts", read(t, "testdata/seed.test.ts"))
	cmd := exec.Command(bun, "test")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "4 pass") {
		t.Errorf("%v\n%s", err, out)
	}
}

// The engine is small, and the same commit makes the same bytes.
func testEngineSize(t *testing.T, f fixture) {
	engine := read(t, filepath.Join(filepath.Dir(f.path(t)), "engine.wasm"))
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write([]byte(engine))
	_ = w.Close()
	t.Logf("%d bytes, %d compressed", len(engine), packed.Len())
	if len(engine) > 6_000_000 || packed.Len() > 1_700_000 {
		t.Errorf("the engine has %d bytes, %d compressed; want at most 6,000,000 and 1,700,000", len(engine), packed.Len())
	}
	again := t.TempDir()
	programtest.Output(t, exec.Command(f.node, "../../npm/ai-sdk/build.mjs", again))
	if read(t, filepath.Join(again, "engine.wasm")) != engine {
		t.Error("built again, the engine has other bytes")
	}
}

// path returns the path of the package's module.
func (f fixture) path(t *testing.T) string {
	t.Helper()
	u, err := url.Parse(f.file)
	if err != nil {
		t.Fatal(err)
	}
	return filepath.FromSlash(u.Path)
}
