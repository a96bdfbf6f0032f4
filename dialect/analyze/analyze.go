// Package analyze has the tool analyze_thinking, which looks across sessions. Any dialect
// can have it among its tools.
package analyze

import (
	"context"
	_ "embed" // of the contract
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/analysis"
	"github.com/sequent-dev/sequent/tool"
)

var (
	//go:embed analyze.json
	spec []byte
	//go:embed analyze.md
	text []byte
)

// Name is the name of the tool.
const Name = "analyze_thinking"

// maxBytes limits what one call reads.
const maxBytes = 32 << 20

type args struct {
	Query       string `json:"query,omitzero"`
	Days        int    `json:"days,omitzero"`
	Limit       int    `json:"limit,omitzero"`
	AllProjects bool   `json:"all_projects,omitzero" alias:"allProjects"`
}

// New returns the tool over the sessions of an engine: those of the caller, and of the
// caller's project unless all are asked for. Reject words arguments that do not fit the
// schema, refuse errors of the engine, both in the terms of the dialect.
func New(e *sequent.Engine, reject func(*tool.ArgumentError) (tool.Reply, error), refuse func(error) (tool.Reply, error)) tool.Tool {
	return tool.New(tool.Parse(spec, text), func(ctx context.Context, c tool.Call, in args) (tool.Reply, error) {
		const defaultLimit = 3
		q := analysis.Query{Text: in.Query, Limit: in.Limit, MaxBytes: maxBytes}
		if q.Limit == 0 {
			q.Limit = defaultLimit
		}
		if !in.AllProjects {
			q.Project = c.Caller.Scope.Project
		}
		if in.Days > 0 {
			q.Since = e.Now().Add(-time.Duration(in.Days) * 24 * time.Hour)
		}
		r, err := analysis.Run(ctx, e.Owned(c.Caller.Owner), q)
		if err != nil {
			return refuse(err)
		}
		reply := tool.JSONReply(r)
		reply.Text = r.Text()
		return reply, nil
	}, reject).Weighing(tool.Heavy)
}
