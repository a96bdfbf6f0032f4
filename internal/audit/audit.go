// Package audit writes a log of who has read and changed what: one JSON object a line for
// each request, without thoughts, titles, notes, queries and tokens. docs/operating.md
// describes its fields.
package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/printable"
)

// The outcomes of requests.
const (
	Allowed = "allowed"
	Refused = "refused" // nothing was read or changed
	Failed  = "failed"  // because of a fault of the server
)

// Who sends a request.
const (
	Local   = "local"   // the person who runs the server
	Token   = "token"   // the subject of a token
	Link    = "link"    // a visitor with a link to a session
	Unknown = "unknown" // a request that was refused before that was known
)

// An Entry is a line of the log. [Begin] makes one.
type Entry struct {
	Time      time.Time `json:"time"`
	Who       string    `json:"who"` // by default as Subject says
	Subject   string    `json:"subject,omitempty"`
	Token     string    `json:"token,omitempty"` // its id in the token file, or its issuer
	Address   string    `json:"address,omitempty"`
	Transport string    `json:"transport"` // stdio, http or websocket
	Action    string    `json:"action"`    // method of the protocol, of the viewer's API, or of HTTP; by default unknown
	Dialect   string    `json:"dialect,omitempty"`
	Tool      string    `json:"tool,omitempty"`
	Sessions  []Session `json:"sessions,omitempty"`
	More      int       `json:"moreSessions,omitempty"`
	Link      string    `json:"link,omitempty"`   // id of a link to a session
	Outcome   string    `json:"outcome"`          // by default as Code and Status say
	Code      string    `json:"code,omitempty"`   // of a refusal
	Status    int       `json:"status,omitempty"` // of HTTP
	Client    string    `json:"client,omitempty"` // program of the client, as it says itself
	Agent     string    `json:"agent,omitempty"`
	Request   string    `json:"request,omitempty"` // id of the request, as JSON
	Trace     string    `json:"trace,omitempty"`   // id of the trace (W3C Trace Context)
	Micros    int64     `json:"durationMicros,omitempty"`

	mu sync.Mutex // guards Sessions and More
}

// A Session is a session that a request has named.
type Session struct {
	ID      string `json:"id"`
	Owner   string `json:"owner,omitempty"`   // empty for the local user
	Changes bool   `json:"changes,omitempty"` // it was to be changed
}

const (
	maxText     = 128 // characters of a text that a client chooses
	maxSessions = 16  // that an entry names
)

type entryKey struct{}

// Begin returns the entry of a request that arrived at some time, and a context whose calls name in it which
// sessions they use. Calls that are refused count, too, unless the id is one that no session can have.
// Sessions that a list or a search finds do not count.
func Begin(ctx context.Context, received time.Time) (context.Context, *Entry) {
	e := &Entry{Time: received.UTC()}
	return context.WithValue(ctx, entryKey{}, e), e
}

// Used adds a session to the entry of ctx, if it has one; see [sequent.Config].
func Used(ctx context.Context, k sequent.Key, changes bool) {
	e, _ := ctx.Value(entryKey{}).(*Entry)
	if e == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for i := range e.Sessions {
		if s := &e.Sessions[i]; s.ID == string(k.ID) && s.Owner == k.Owner {
			s.Changes = s.Changes || changes
			return
		}
	}
	if len(e.Sessions) == maxSessions {
		e.More++
		return
	}
	e.Sessions = append(e.Sessions, Session{ID: string(k.ID), Owner: k.Owner, Changes: changes})
}

// TraceOf returns the id of the trace in a header Traceparent, or "".
func TraceOf(parent string) string {
	const length = 32 // of the id in 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
	if parts := strings.Split(parent, "-"); len(parts) == 4 && len(parts[1]) == length {
		return parts[1]
	}
	return ""
}

// Record ends an entry and writes its line; see [Log].
func (l *Log) Record(e *Entry) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.Micros = time.Since(e.Time).Microseconds()
	switch {
	case e.Who != "":
	case e.Subject != "":
		e.Who = Token
	case l.Tokens:
		e.Who = Unknown
	default:
		e.Who = Local
	}
	if e.Action == "" {
		e.Action = "unknown" // refused before its method was known, or none that exists
	}
	switch {
	case e.Outcome != "":
	case e.Status == http.StatusInternalServerError:
		e.Outcome = Failed
	case e.Code != "" || e.Status >= http.StatusBadRequest:
		e.Outcome = Refused
	default:
		e.Outcome = Allowed
	}
	for _, text := range []*string{&e.Client, &e.Agent, &e.Request, &e.Trace} {
		*text = fmt.Sprintf("%.*s", maxText, *text)
	}
	line, err := json.Marshal(e)
	if err != nil {
		panic("audit: " + err.Error()) // strings and numbers
	}
	l.add(append(printable.JSON(line), '\n'))
}
