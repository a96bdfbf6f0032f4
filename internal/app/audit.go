package app

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"github.com/sequent-dev/sequent/internal/audit"
	"github.com/sequent-dev/sequent/mcpserver"
)

// An AuditConfig says where the audit log is written.
type AuditConfig struct {
	Path string    // of a file; empty means Out
	Out  io.Writer // nil means no audit log, unless there is a path
}

// openAudit opens the audit log, if there is to be one.
func (a *App) openAudit() error {
	cfg := a.config.Audit
	if cfg.Path == "" && cfg.Out == nil {
		return nil
	}
	path, err := cfg.Path, error(nil)
	if path != "" {
		path, err = expand(path)
	}
	if err == nil {
		a.audit, err = audit.Open(audit.Config{Path: path, Out: cfg.Out, Tokens: a.config.HTTP.authenticates(), Logger: a.logger})
	}
	if err != nil {
		return usage(fmt.Sprintf("cannot write the audit log: %v", err), "pass a file that can be written, or -, with --audit")
	}
	return nil
}

// unlogged returns how many lines the audit log lacks, and whether it cannot be written now.
func (a *App) unlogged() (lost uint64, failing bool) {
	if a.audit == nil {
		return 0, false
	}
	return a.audit.State()
}

// observer returns what servers tell of requests; nil if nothing is.
func (a *App) observer() mcpserver.Observer {
	if a.telemetry == nil && a.audit == nil {
		return nil
	}
	return a.observe
}

func (a *App) observe(ctx context.Context, x *mcpserver.Exchange) (context.Context, func()) {
	ctx, measured := a.telemetry.Observe(ctx, x)
	if a.audit == nil {
		return ctx, measured
	}
	ctx, e := audit.Begin(ctx, x.Received)
	return ctx, func() {
		if x.Method != "ping" || x.Code != 0 { // else it reads and changes nothing
			describe(e, x)
			a.audit.Record(e)
		}
		measured()
	}
}

// describe sets what the log says of an exchange.
func describe(e *audit.Entry, x *mcpserver.Exchange) {
	e.Action, e.Tool, e.Request = x.Method, cmp.Or(x.Tool, x.Prompt), string(x.ID)
	switch {
	case x.Status == http.StatusSwitchingProtocols:
		e.Action = "websocket"
	case x.Bare && x.Status != 0: // not a frame
		e.Action = x.Via.Verb
	}
	e.Subject, e.Token, e.Agent, e.Client = x.Caller.Owner, x.Via.Token, x.Via.Agent, x.Client
	e.Transport, e.Dialect = cmp.Or(x.Via.Protocol, "stdio"), x.Dialect
	e.Trace = cmp.Or(audit.TraceOf(x.Parent.Parent), audit.TraceOf(x.Via.Link.Parent))
	e.Status, e.Code = x.Status, x.Reason
	if x.Via.Client.IsValid() {
		e.Address = x.Via.Client.String()
	}
	if x.Code != 0 && e.Code == "" {
		e.Code = strconv.Itoa(x.Code)
	}
	const internal = -32603 // the code of JSON-RPC for a fault of the server
	switch {
	case x.Code == internal && x.Reason == "":
		e.Outcome = audit.Failed
	case x.Failed || x.Code != 0:
		e.Outcome = audit.Refused
	}
}
