package app

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/sequent-dev/sequent/internal/audit"
	"github.com/sequent-dev/sequent/mcpserver"
	"github.com/sequent-dev/sequent/web"
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
	var log *audit.Log
	if err == nil {
		log, err = audit.Open(audit.Config{Path: path, Out: cfg.Out, Logger: a.logger})
	}
	if err != nil {
		return usage(fmt.Sprintf("cannot write the audit log: %v", err), "pass a file that can be written, or -, with --audit")
	}
	a.audit = &auditor{log: log, tokens: a.config.HTTP.authenticates()}
	return nil
}

// unlogged returns how many lines the audit log lacks, and whether it cannot be written now.
func (a *App) unlogged() (lost uint64, failing bool) {
	if a.audit == nil {
		return 0, false
	}
	lost, err := a.audit.log.State()
	return lost, err != nil
}

// unknownAction is the action of a request that was refused before its method was known, or that
// names a method that does not exist.
const unknownAction = "unknown"

// An auditor writes a line for each request.
type auditor struct {
	log    *audit.Log
	tokens bool // clients need tokens; otherwise all are the local user
}

// who returns who sends the requests of an owner.
func (a *auditor) who(owner string) string {
	switch {
	case owner != "":
		return audit.Token
	case a.tokens:
		return audit.Unknown
	}
	return audit.Local
}

// Begin implements [mcpserver.Observer].
func (a *auditor) Begin(ctx context.Context, x *mcpserver.Exchange) (context.Context, func()) {
	trail := new(audit.Trail)
	return audit.WithTrail(ctx, trail), func() {
		if x.Method == "ping" && x.Code == 0 { // it reads and changes nothing
			return
		}
		e := a.entry(x)
		e.Action, e.Tool, e.Request = cmp.Or(x.Method, unknownAction), cmp.Or(x.Tool, x.Prompt), string(x.ID)
		e.Trace = traceOf(x.Parent.Parent, x.Via.Link.Parent)
		e.Follow(trail)
		a.log.Record(e)
	}
}

// Closed implements [mcpserver.Observer].
func (a *auditor) Closed(*mcpserver.Exchange, time.Duration) {}

// Other implements [mcpserver.Observer].
func (a *auditor) Other(x *mcpserver.Exchange) {
	e := a.entry(x)
	switch {
	case x.Status == http.StatusSwitchingProtocols:
		e.Action = "websocket"
	case x.Via.Verb != "" && x.Status != 0: // not a frame
		e.Action = x.Via.Verb
	default:
		e.Action = unknownAction
	}
	e.Trace = traceOf(x.Via.Link.Parent)
	a.log.Record(e)
}

// entry returns what the log says of any exchange.
func (a *auditor) entry(x *mcpserver.Exchange) *audit.Entry {
	e := &audit.Entry{
		Time: x.Received, Who: a.who(x.Caller.Owner), Subject: x.Caller.Owner, Token: x.Via.Token,
		Transport: x.Via.Protocol, Dialect: x.Dialect, Client: x.Client, Agent: x.Via.Agent,
		Status: x.Status, Outcome: audit.Allowed, Code: x.Reason, Micros: time.Since(x.Received).Microseconds(),
	}
	if e.Transport == "" {
		e.Transport = "stdio"
	}
	if x.Via.Client.IsValid() {
		e.Address = x.Via.Client.String()
	}
	if x.Code != 0 && e.Code == "" {
		e.Code = strconv.Itoa(x.Code)
	}
	switch {
	case x.Code == codeInternal && x.Reason == "":
		e.Outcome = audit.Failed
	case x.Failed || x.Code != 0 || x.Status >= http.StatusBadRequest:
		e.Outcome = audit.Refused
	}
	return e
}

// codeInternal is the code of JSON-RPC for a fault of the server.
const codeInternal = -32603

// access writes a line for a request to the viewer's API; see [web.Config].
func (a *auditor) access(ctx context.Context, x *web.Access) (context.Context, func()) {
	trail := new(audit.Trail)
	return audit.WithTrail(ctx, trail), func() {
		e := &audit.Entry{
			Time: x.Received, Who: a.who(x.Granted.Subject), Subject: x.Granted.Subject, Token: x.Granted.Token,
			Transport: "http", Action: cmp.Or(x.Action, unknownAction), Status: x.Status, Code: x.Code, Outcome: audit.Allowed,
			Trace: traceOf(x.Parent), Micros: time.Since(x.Received).Microseconds(),
		}
		if x.Address.IsValid() {
			e.Address = x.Address.String()
		}
		if e.Link = x.Link; x.Linked {
			e.Who = audit.Link
		}
		switch {
		case x.Status == http.StatusInternalServerError:
			e.Outcome = audit.Failed
		case x.Code != "":
			e.Outcome = audit.Refused
		}
		e.Follow(trail)
		a.log.Record(e)
	}
}

// traceOf returns the id of the trace in the first header that has one, or "".
func traceOf(parents ...string) string {
	const start, end = 3, 35 // of the id in 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
	for _, parent := range parents {
		if len(parent) < end+1 || parent[start-1] != '-' || parent[end] != '-' {
			continue
		}
		if id := parent[start:end]; strings.Trim(id, "0") != "" {
			if _, err := hex.DecodeString(id); err == nil {
				return id
			}
		}
	}
	return ""
}
