package wiki_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/dialect/dialecttest"
	"github.com/sequent-dev/sequent/dialect/wiki"
	"github.com/sequent-dev/sequent/vault/wikilink"
)

type tmp struct{}

func (tmp) Write(context.Context, *sequent.Session) error { return nil }
func (tmp) Session(_ context.Context, id sequent.ID) (sequent.Header, []sequent.Thought, error) {
	return sequent.Header{}, nil, sequent.ErrNotFound
}
func (tmp) Open(context.Context, string) (bool, error)          { return false, wiki.ErrNotFound }
func (tmp) Join(context.Context, string, sequent.ID) error { return nil }

func build(_ testing.TB, env dialecttest.Env) dialect.Dialect {
	return wiki.New(wiki.Config{
		Engine: env.Engine, Rand: env.Rand,
		Linked: func(s string) bool { return wikilink.HasConcept([]byte(s)) },
		Open: func(context.Context, string) (*wiki.Vault, error) {
			return &wiki.Vault{Files: tmp{}, Workflows: tmp{}}, nil
		},
	})
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
