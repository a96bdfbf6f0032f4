package streamhttp

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/sequent-dev/sequent/auth"
	"github.com/sequent-dev/sequent/internal/governor"
	"github.com/sequent-dev/sequent/mcpserver/internal/message"
	"github.com/sequent-dev/sequent/mcpserver/internal/method"
	"github.com/sequent-dev/sequent/tool"
)

const (
	headerVersion = "Mcp-Protocol-Version"
	headerSession = "Mcp-Session-Id"
	headerMethod  = "Mcp-Method"
	headerName    = "Mcp-Name"
)

const (
	// maxScope is how many characters the name of a scope may have.
	maxScope = 128
	// ownScope begins the names of scopes that no URL can name.
	ownScope = "~"
	// maxPeek is how much is read of a message that is refused unread, for its id.
	maxPeek = 64 << 10
	// peekTimeout is how long that is waited for.
	peekTimeout = 200 * time.Millisecond
)

// A visit is one HTTP request.
type visit struct {
	h       *Handler
	w       http.ResponseWriter
	r       *http.Request
	control *http.ResponseController
	server  *method.Server // of the endpoint
	caller  tool.Caller    // as the request alone says; see callerIn
	granted auth.Identity  // what the token allows; zero without tokens
	origin  method.Origin
	client  *governor.Subject // whom limits are for; nil before that is known
	held    governor.Limits   // of the client, by this visit
	seen    *method.Exchange  // the request, for an observer; nil without one
	fault   *message.Error    // in its reply; nil for a result
	begun   time.Time         // of the request
	status  int               // of the reply
	told    bool              // the observer knows of the request, or need not
}

// admit finds out what is asked for and by whom. If it reports false it has
// answered.
func (v *visit) admit() bool {
	v.server = v.h.servers[strings.TrimSuffix(v.r.URL.Path, "/")]
	if !v.ownName() {
		return false
	}
	origin := v.r.Header.Get("Origin")
	if !v.h.gate.OwnPage(v.r) {
		v.fail(http.StatusForbidden, nil, message.Because("foreign_origin", fmt.Sprintf("web pages of the origin %.100q may not call this server", origin)))
		return false
	}
	if v.h.gate.Trusts(origin) {
		v.allowOrigin(origin)
		if v.r.Method == http.MethodOptions {
			v.accept(http.StatusNoContent)
			return false
		}
	}
	if v.server == nil {
		v.refuse(http.StatusNotFound, "there is nothing at %.100q; the MCP endpoints are %s", v.r.URL.Path, v.h.names)
		return false
	}
	return v.authenticate() && v.limit() && v.scope()
}

// ownName refuses a request for another server: a page of another site has made
// its name point here.
func (v *visit) ownName() bool {
	if v.h.gate.OwnName(v.r) {
		return true
	}
	v.fail(http.StatusForbidden, nil, message.Because("foreign_host", fmt.Sprintf("a server on this address answers to local names only, not to the Host %.100q", v.r.Host)))
	return false
}

// allowOrigin lets scripts of a trusted origin read the reply.
func (v *visit) allowOrigin(origin string) {
	header := v.w.Header()
	header.Set("Access-Control-Allow-Origin", origin)
	header.Add("Vary", "Origin")
	header.Set("Access-Control-Allow-Methods", "POST, GET, DELETE")
	header.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Accept, Last-Event-ID, "+
		strings.Join([]string{headerVersion, headerSession, headerMethod, headerName}, ", "))
	header.Set("Access-Control-Expose-Headers", headerSession+", Retry-After, WWW-Authenticate")
	header.Set("Access-Control-Max-Age", "600")
}

// ownConn makes the connection one of the client's.
func (v *visit) ownConn() bool {
	c := connOf(v.r)
	if c == nil {
		return true
	}
	if err := c.moveTo(v.client); err != nil {
		v.w.Header().Set("Connection", "close")
		v.refuseFor(err, nil)
		return false
	}
	return true
}

// limit refuses a client that sends requests too fast or has too many under way.
func (v *visit) limit() bool {
	if v.r.Method != http.MethodPost {
		return true
	}
	err := v.client.Request()
	if err == nil {
		err = v.hold(governor.Calls, 1)
	}
	if err != nil {
		v.refuseFor(err, v.peekID())
		return false
	}
	return true
}

// peekID returns the id of a message that is refused unread, if it is short.
func (v *visit) peekID() []byte {
	if v.r.ContentLength <= 0 || v.r.ContentLength > maxPeek {
		return nil
	}
	body, err := v.read(maxPeek, peekTimeout)
	if err != nil {
		return nil
	}
	m := message.Parse(body)
	return m.ID
}

// scope reads what the URL says about the conversation that calls belong to.
func (v *visit) scope() bool {
	query, err := url.ParseQuery(v.r.URL.RawQuery)
	if err != nil {
		v.refuse(http.StatusBadRequest, "the query of the URL cannot be read: write a space as %%20 and a per cent sign as %%25")
		return false
	}
	v.origin = method.Origin{Agent: query.Get("agent"), Project: query.Get("project")}
	names, ok := query["scope"]
	if !ok {
		if v.caller.Owner != "" {
			v.caller.Scope.Name = ownScope + "subject" // each subject has one: scopes are kept by owner
		}
		return true
	}
	name := names[0]
	switch {
	case len(names) > 1:
		err = fmt.Errorf("the URL names more than one scope")
	case name == "":
		err = fmt.Errorf("the scope in the URL has no name: write ?scope=NAME")
	case !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
		err = fmt.Errorf("the name of a scope must be of printable characters")
	case utf8.RuneCountInString(name) > maxScope:
		err = fmt.Errorf("the name of a scope must not have more than %d characters", maxScope)
	case strings.HasPrefix(name, ownScope):
		err = fmt.Errorf("the name of a scope must not begin with %s", ownScope)
	}
	if err != nil {
		v.refuse(http.StatusBadRequest, "%s", err)
		return false
	}
	v.caller.Scope.Name = name
	return true
}
