package telemetry

import (
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the table of docs/observability.md")

const page = "../../docs/observability.md"

// table returns the table of the documentation.
func table() string {
	var b strings.Builder
	b.WriteString("| Metric | For Prometheus | Kind | Meaning | Attributes |\n|---|---|---|---|---|\n")
	for _, m := range Metrics() {
		attributes := ""
		if len(m.Attributes) > 0 {
			attributes = "`" + strings.Join(m.Attributes, "`, `") + "`"
		}
		b.WriteString("| `" + m.Name + "` | `" + m.Prometheus() + "` | " + m.Kind + " | " + m.Meaning + " | " + attributes + " |\n")
	}
	return b.String()
}

// TestReferenceMetrics checks that the table of the documentation is current, and that its
// alerts name metrics that exist.
func TestReferenceMetrics(t *testing.T) {
	raw, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(raw), "\r\n", "\n")
	const begin, end = "<!-- begin metrics: make generate -->\n", "<!-- end metrics -->"
	before, rest, ok := strings.Cut(text, begin)
	got, after, ended := strings.Cut(rest, end)
	if !ok || !ended {
		t.Fatal("the page has no place for the table")
	}
	if *update {
		if err := os.WriteFile(page, []byte(before+begin+table()+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if got != table() {
		t.Error("the table of docs/observability.md is stale; run make generate")
	}
	known := make(map[string]bool)
	for _, m := range Metrics() {
		known[m.Prometheus()] = true
		if m.Kind == "histogram" {
			known[m.Prometheus()+"_count"], known[m.Prometheus()+"_bucket"] = true, true
		}
	}
	_, alerts, _ := strings.Cut(text, "## Alerts")
	names := regexp.MustCompile(`\b(?:mcp|db|sequent|gen_ai)_\w+`).FindAllString(regexp.MustCompile(`(?s)\{[^}]*\}|by \([^)]*\)`).ReplaceAllString(alerts, ""), -1)
	if len(names) < 5 {
		t.Errorf("the alerts name only %q", names)
	}
	for _, name := range names {
		if !known[name] {
			t.Errorf("an alert names %s, which is no metric", name)
		}
	}
}
