package wiki_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/dialect/dialecttest"
	"github.com/sequent-dev/sequent/dialect/wiki"
	"github.com/sequent-dev/sequent/vault/vaults"
)

// build returns the dialect over a real vault, as the program does.
func build(t testing.TB, env dialect.Env) dialect.Dialect {
	t.Helper()
	notes := 0
	if strings.Contains(t.Name(), "quota.txtar") {
		notes = 2
	}
	v := vaults.New(vaults.Config{Dir: filepath.Join(env.Dir, "vault"), Engine: env.Engine, MaxNotes: notes})
	t.Cleanup(func() {
		if err := v.Close(); err != nil {
			t.Error(err)
		}
	})
	return wiki.New(wiki.Config{Vaults: v, Rand: env.Rand})
}

func call(s dialecttest.Step) string {
	type args struct {
		Response   string `json:"response"`
		Next       bool   `json:"nextThoughtNeeded"`
		Number     int    `json:"thoughtNumber"`
		Total      int    `json:"totalThoughts"`
		Session    string `json:"sessionId,omitzero"`
		Branch     string `json:"branchId,omitzero"`
		From       *int   `json:"branchFromThought,omitzero"`
		Conclusion string `json:"conclusion,omitzero"`
	}
	a := args{Response: s.Text + " [[test]]", Next: !s.Last, Number: s.Number - 1, Total: s.Total, Session: s.Session, Branch: s.Branch}
	if s.Session == "" {
		a.Number = 0 // whatever the step is, it begins a session
	}
	if s.Branch != "" {
		a.From = new(s.From - 1)
	}
	if s.Last {
		a.Conclusion = "Found [[test]]."
	}
	raw, err := json.Marshal(a)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

func TestDialect(t *testing.T) {
	dialecttest.Run(t, dialecttest.Config{Build: build, Call: call})
}
