//go:build unix

package app

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/diagnosis"
	"github.com/sequent-dev/sequent/internal/pgtest"
)

func TestPostgres(t *testing.T) {
	var server pgtest.Server
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	cfg := Config{Store: server.Schema(t)}
	for i := range 3 {
		open := Open
		if i == 2 {
			open = OpenExisting
		}
		a, err := open(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		s, err := a.Engine.Append(t.Context(), "a", sequent.Draft{Number: i + 1, Total: 3, Text: fmt.Sprint("thought ", i)})
		if err != nil || s.Len() != i+1 {
			t.Errorf("Ensure = %d thoughts, error %v; want %d", s.Len(), err, i+1)
		}
		if err := a.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
	findings, err := Diagnose(t.Context(), cfg)
	if err != nil || len(findings) < 6 {
		t.Errorf("Diagnose = %+v, error %v", findings, err)
	}
	for _, f := range findings {
		if f.Status != diagnosis.OK || strings.Contains(f.Detail, "search_path") {
			t.Errorf("finding %+v", f)
		}
	}
}
