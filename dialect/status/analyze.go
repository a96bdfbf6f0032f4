package status

import (
	"context"
	"time"

	"github.com/sequent-dev/sequent/analysis"
	"github.com/sequent-dev/sequent/tool"
)

// maxAnalyzed limits the bytes that one call of analyze_thinking reads.
const maxAnalyzed = 32 << 20

type analyzeArgs struct {
	Query       string `json:"query,omitzero"`
	Days        int    `json:"days,omitzero"`
	Limit       int    `json:"limit,omitzero"`
	AllProjects bool   `json:"all_projects,omitzero" alias:"allProjects"`
}

// analyze is the tool analyze_thinking over the sessions of the caller, and of the caller's
// project unless all are asked for.
func (d *server) analyze(ctx context.Context, c tool.Call, in analyzeArgs) (tool.Reply, error) {
	const defaultLimit = 3
	q := analysis.Query{Text: in.Query, Limit: in.Limit, MaxBytes: maxAnalyzed}
	if q.Limit == 0 {
		q.Limit = defaultLimit
	}
	if !in.AllProjects {
		q.Project = c.Caller.Scope.Project
	}
	if in.Days > 0 {
		q.Since = d.engine.Now().Add(-time.Duration(in.Days) * 24 * time.Hour)
	}
	r, err := analysis.Run(ctx, d.engine.Owned(c.Caller.Owner), q)
	if err != nil {
		return tool.Reply{}, err
	}
	reply := tool.JSONReply(r)
	reply.Text = r.Text()
	return reply, nil
}
