// Package audit writes a log of who has read and changed what: one JSON object a line for
// each request, without thoughts, titles, notes, queries and tokens. docs/operating.md
// describes its fields.
package audit

import (
	"encoding/json"
	"fmt"
	"time"

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

// An Entry is a line of the log.
type Entry struct {
	Time      time.Time `json:"time"`
	Who       string    `json:"who"`
	Subject   string    `json:"subject,omitempty"`
	Token     string    `json:"token,omitempty"` // its id in the token file, or its issuer
	Address   string    `json:"address,omitempty"`
	Transport string    `json:"transport"` // stdio, http or websocket
	Action    string    `json:"action"`    // method of the protocol, of the viewer's API, or of HTTP
	Dialect   string    `json:"dialect,omitempty"`
	Tool      string    `json:"tool,omitempty"`
	Sessions  []Session `json:"sessions,omitempty"`
	More      int       `json:"moreSessions,omitempty"`
	Link      string    `json:"link,omitempty"` // id of a link to a session
	Outcome   string    `json:"outcome"`
	Code      string    `json:"code,omitempty"`   // of a refusal
	Status    int       `json:"status,omitempty"` // of HTTP
	Client    string    `json:"client,omitempty"` // program of the client, as it says itself
	Agent     string    `json:"agent,omitempty"`
	Request   string    `json:"request,omitempty"` // id of the request, as JSON
	Trace     string    `json:"trace,omitempty"`   // id of the trace (W3C Trace Context)
	Micros    int64     `json:"durationMicros,omitempty"`
}

// A Session is a session that a request has named.
type Session struct {
	ID      string `json:"id"`
	Owner   string `json:"owner,omitempty"`   // empty for the local user
	Changes bool   `json:"changes,omitempty"` // it was to be changed
}

// maxText is the maximum number of characters of a text that a client chooses.
const maxText = 128

// Record writes a line. It returns when the line is written, or after a second; see [Log].
func (l *Log) Record(e *Entry) {
	e.Time = e.Time.UTC()
	for _, text := range []*string{&e.Client, &e.Agent, &e.Request, &e.Trace} {
		*text = fmt.Sprintf("%.*s", maxText, *text)
	}
	line, err := json.Marshal(e)
	if err != nil {
		panic("audit: " + err.Error()) // strings and numbers
	}
	l.add(append(printable.JSON(line), '\n'))
}
