package sequent_test

import (
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
)

// BenchmarkProve measures what the chain adds to an append of 200 bytes: a salt and two
// hashes. The goal is 2 µs.
func BenchmarkProve(b *testing.B) {
	entries := sequent.Entries([]sequent.Thought{{
		Draft: sequent.Draft{Number: 7, Total: 10, Text: strings.Repeat("x", 200), More: true},
		Seq:   7, After: 6, At: time.UnixMicro(1_800_000_000_000_000).UTC(),
	}})
	var h sequent.Header
	b.ReportAllocs()
	for b.Loop() {
		h.Prove(entries)
	}
}
