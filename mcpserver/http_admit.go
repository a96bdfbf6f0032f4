package mcpserver

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/sequent-dev/sequent/auth"
	"github.com/sequent-dev/sequent/internal/admission"
	"github.com/sequent-dev/sequent/internal/limits"
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
	// subjectScope is that of each subject that has no other: scopes are kept by owner.
	subjectScope = ownScope + "subject"
)

// A visit is one HTTP request.
type visit struct {
	h       *HTTP
	w       http.ResponseWriter
	r       *http.Request
	control *http.ResponseController
	server  *Server       // of the endpoint
	caller  tool.Caller   // as the request alone says; see callerIn
	granted auth.Identity // what the token allows; zero without tokens
	via     Via
	client  *limits.Client // whom limits are for; nil before that is known
	calls   int            // of the client, held by this visit: 0 or 1
	turn    *limits.Turn   // of the client, that the message or its call may hold
	streams int            // likewise
	seen    *Exchange      // the request, for an observer; nil without one
	fault   *rpcError      // in its reply; nil for a result
	begun   time.Time      // of the request
	status  int            // of the reply
	told    bool           // the observer knows of the request, or need not
}

// admit finds out what is asked for and by whom. If it reports false it has
// answered.
func (v *visit) admit() bool {
	v.server = v.h.servers[strings.TrimSuffix(v.path(), "/")]
	if !v.ownName() {
		return false
	}
	origin := v.r.Header.Get("Origin")
	if !v.h.gate.OwnPage(v.r) {
		v.fail(http.StatusForbidden, nil, because("foreign_origin", fmt.Sprintf("web pages of the origin %.100q may not call this server; %s", origin, admission.OriginFix)))
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
		v.refuse(http.StatusNotFound, "there is nothing at %.100q; the MCP endpoints are %s", v.path(), v.h.names)
		return false
	}
	return v.authenticate() && v.limit() && v.scope()
}

// path returns the path of the request as it was sent. An encoded slash separates nothing.
func (v *visit) path() string { return v.r.URL.EscapedPath() }

// ownName refuses a request for another server: a page of another site has made
// its name point here.
func (v *visit) ownName() bool {
	if v.h.gate.OwnName(v.r) {
		return true
	}
	v.fail(http.StatusForbidden, nil, because("foreign_host", fmt.Sprintf("the Host %.100q is no name of this server; %s", v.r.Host, admission.HostFix)))
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

// limit refuses a client that sends requests too fast or has too many under way.
func (v *visit) limit() bool {
	if v.r.Method != http.MethodPost {
		return true
	}
	err := v.client.Request()
	if err == nil {
		err = v.client.Wait(v.r.Context(), limits.Calls)
	}
	if err != nil {
		v.w.Header().Set("Connection", "close") // the message is not read
		v.refuseFor(err, nil)
		admission.ReadOn(v.h.ending, v.w, v.r)
		return false
	}
	v.calls++
	v.turn = v.client.Turn()
	return true
}

// scope reads what the URL says about the conversation that calls belong to.
func (v *visit) scope() bool {
	query, err := url.ParseQuery(v.r.URL.RawQuery)
	if err != nil {
		v.refuse(http.StatusBadRequest, "the query of the URL cannot be read: write a space as %%20 and a per cent sign as %%25")
		return false
	}
	v.via.Agent, v.via.Project = query.Get("agent"), query.Get("project")
	names, ok := query["scope"]
	if !ok {
		if v.caller.Owner != "" {
			v.caller.Scope.Name = subjectScope
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
