package telemetry

import (
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent/internal/gendocs"
)

var update = flag.Bool("update", false, "rewrite the table of docs/operating.md")

const page = "../../docs/operating.md"

// nameOnPage returns the name that a metric has for Prometheus.
func nameOnPage(m Metric) string {
	name := strings.ReplaceAll(m.Name, ".", "_") + map[string]string{"s": "_seconds", "By": "_bytes"}[m.Unit]
	if m.Kind == "counter" {
		name += "_total"
	}
	return name
}

// table returns the table of the documentation.
func table() string {
	var b strings.Builder
	b.WriteString("| Metric | Kind | Meaning | Attributes |\n|---|---|---|---|\n")
	for _, m := range Metrics() {
		attributes := ""
		if len(m.Attributes) > 0 {
			attributes = "`" + strings.Join(m.Attributes, "`, `") + "`"
		}
		b.WriteString("| `" + nameOnPage(m) + "` | " + m.Kind + " | " + m.Meaning + " | " + attributes + " |\n")
	}
	return b.String()
}

// TestReferenceMetrics checks that the table of the documentation is current, and that the
// alerts name metrics that exist.
func TestReferenceMetrics(t *testing.T) {
	if *update {
		if err := gendocs.WriteSection(page, "metrics", table()); err != nil {
			t.Fatal(err)
		}
	}
	if err := gendocs.CheckSection(page, "metrics", table()); err != nil {
		t.Error(err)
	}
	alerts, err := os.ReadFile("../../packaging/prometheus/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	known := make(map[string]bool)
	for _, m := range Metrics() {
		known[nameOnPage(m)] = true
		if m.Kind == "histogram" {
			known[nameOnPage(m)+"_count"], known[nameOnPage(m)+"_bucket"] = true, true
		}
	}
	names := regexp.MustCompile(`\b(?:mcp|db|sequent|gen_ai)_\w+`).FindAllString(regexp.MustCompile(`(?s)\{[^}]*\}|by \([^)]*\)`).ReplaceAllString(string(alerts), ""), -1)
	if len(names) < 5 {
		t.Errorf("the alerts name only %q", names)
	}
	for _, name := range names {
		if !known[name] {
			t.Errorf("an alert names %s, which is no metric", name)
		}
	}
}
