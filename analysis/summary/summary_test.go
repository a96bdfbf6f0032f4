package summary_test

import (
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/analysis"
	"github.com/sequent-dev/sequent/analysis/summary"
	"github.com/sequent-dev/sequent/llm"
	"github.com/sequent-dev/sequent/llm/llmtest"
)

func report() *analysis.Report {
	cite := func(id sequent.ID, ref, text string) analysis.Cite {
		return analysis.Cite{Session: id, Seq: 1, Ref: ref, Text: text, At: time.Unix(0, 0)}
	}
	question := cite("a1b2c3", "a1b2c3#3", "Does the exporter hold the lock while it waits for the disk?")
	return &analysis.Report{
		Left: []analysis.Left{{Title: "The exporter stops", State: sequent.Abandoned, Question: &question, Last: question}},
		Revised: []analysis.Revised{{
			Title: "Orders time out", How: analysis.HowRejected, Kind: analysis.BySession,
			Conclusion: cite("d4e5f6", "d4e5f6#4", "The nightly reports exhaust the pool of 32 connections."),
			By:         cite("g7h8i9", "g7h8i9#2", "d4e5f6 was wrong: the fraud check holds them."),
		}},
	}
}

// Only sentences whose citations hold are kept, and the others are told.
func TestWrite(t *testing.T) {
	m := llmtest.New(llmtest.Say(`{"sentences":[
		{"text":"The exporter's lock was never looked into.","refs":["a1b2c3#3"]},
		{"text":"The reports were blamed for an exhausted pool of 32 connections, but the fraud check held them.","refs":["d4e5f6#4","[g7h8i9#2]"]},
		{"text":"Everything is fine.","refs":[]},
		{"text":"The exporter holds the lock.","refs":["a1b2c3#9"]},
		{"text":"The pool had 64 connections.","refs":["d4e5f6#4"]},
		{"text":"It says \"the database is broken\" about the pool.","refs":["d4e5f6#4"]},
		{"text":"Marketing should hire three people soon.","refs":["d4e5f6#4"]}
	]}`))
	s, err := summary.Write(t.Context(), m, report())
	if err != nil || len(s.Sentences) != 2 || len(s.Sentences[1].Cites) != 2 || s.Usage.Total() == 0 {
		t.Fatalf("got %+v, %v", s, err)
	}
	for i, want := range []string{"cites nothing", `"a1b2c3#9", which is no thought`, "the number 64", `does not say "the database is broken"`, "something else"} {
		if i >= len(s.Dropped) || !strings.Contains(s.Dropped[i].Why, want) {
			t.Errorf("dropped %+v, want %q at %d", s.Dropped, want, i)
		}
	}
	if sent := m.Requests()[0].Messages[1].Text; !strings.Contains(sent, "g7h8i9#2 rejected by a later session: d4e5f6 was wrong") {
		t.Errorf("sent %s", sent)
	}
}

// A report without findings costs nothing.
func TestNothingToSay(t *testing.T) {
	m := llmtest.New()
	if s, err := summary.Write(t.Context(), m, new(analysis.Report)); err != nil || len(s.Sentences) != 0 || len(m.Requests()) != 0 {
		t.Errorf("got %+v, %v after %d requests", s, err, len(m.Requests()))
	}
	failing := llmtest.New(llmtest.Turn{Err: &llm.Error{Code: llm.CodeUnavailable}})
	if _, err := summary.Write(t.Context(), failing, report()); llm.CodeOf(err) != llm.CodeUnavailable {
		t.Errorf("got %v", err)
	}
}
