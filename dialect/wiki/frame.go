package wiki

import (
	"cmp"
	"context"
	"embed"
	"fmt"
	"reflect"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/tool"
	"github.com/sequent-dev/sequent/vault/vaults"
)

//go:embed *.json *.md
var contracts embed.FS

// A turn is a call of a tool that is being answered. What is written to it is the text of
// the reply.
type turn struct {
	strings.Builder
	out    any      // the reply for a program
	beside []string // see [tool.Reply.Beside]

	*server
	call   tool.Call
	engine *sequent.Engine // the caller's
	vault  *vaults.Vault   // the caller's
}

// define returns the tool whose contract is in files of a name, and which run answers.
func define[A any](d *server, file string, run func(context.Context, *turn, A) error) tool.Tool {
	return tool.New(tool.ParseFS(contracts, file), func(ctx context.Context, c tool.Call, in A) (tool.Reply, error) {
		t := &turn{server: d, call: c, engine: d.Vaults.Engine().Owned(c.Caller.Owner)}
		var err error
		if t.vault, err = d.Vaults.Open(ctx, c.Caller.Owner); err == nil {
			err = run(ctx, t, in)
		}
		if err != nil {
			return refuse(err, c.Unknown...)
		}
		if len(c.Unknown) > 0 {
			t.linef("⚠️ unknown fields ignored: %s", strings.Join(c.Unknown, ", "))
		}
		reply := tool.JSONReply(t.out)
		reply.Text, reply.Beside = t.String(), t.beside
		return reply, nil
	}, reject)
}

// printf adds to the text of the reply.
func (t *turn) printf(format string, args ...any) { fmt.Fprintf(t, format, args...) }

// linef adds a line to the text of the reply.
func (t *turn) linef(format string, args ...any) { fmt.Fprintf(t, "\n"+format, args...) }

// agent returns the name of the agent that calls.
func (t *turn) agent() string { return cmp.Or(oneLine(t.call.Caller.Agent), t.Agent) }

// misplaced refuses an argument that belongs to other actions of a tool. The tag action of
// its field lists those to which it belongs.
func misplaced(in any, action string) error {
	v := reflect.ValueOf(in)
	for i := range v.NumField() {
		f := v.Type().Field(i)
		actions := f.Tag.Get("action")
		if v.Field(i).IsZero() || actions == "" || strings.Contains(actions, action) {
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		return &refusal{codeInvalidArgument, fmt.Sprintf("%s belongs to the action %s; leave it out, or use that", name, strings.ReplaceAll(actions, ",", " or "))}
	}
	return nil
}
