package web

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/auth"
	"github.com/sequent-dev/sequent/internal/admission"
	"github.com/sequent-dev/sequent/internal/audit"
	"github.com/sequent-dev/sequent/internal/limits"
)

// The prefixes of the paths that a Handler answers.
const (
	PagesPrefix = "/ui/"
	APIPrefix   = "/api/"
)

// A Config configures a Handler.
type Config struct {
	Engine  *sequent.Engine  // required
	Store   sequent.Store    // of Engine, for links and sign-in codes; nil for none
	Gate    *admission.Gate  // required
	Limiter *limits.Limiter  // required
	Auth    auth.Guarantor   // whose the sessions are; nil means those of Engine
	SignIn  SignIn           // through a provider, besides tokens; nil for none. With Auth and PublicURL
	Key     *Key             // admits only requests that carry it; nil means all. Not with Auth
	Drafts  *Drafts          // thoughts that models are writing; nil for none
	Version string           // of the program
	Logger  *slog.Logger     // nil means discard
	Ending  context.Context  // streams end when it is done; nil means never
	Now     func() time.Time // nil means time.Now
	// Commands are the command lines that record a demonstration and that set up a client, as a person on this
	// machine can run them. A page without sessions shows them; empty means those of the program on the PATH.
	Commands []string
	// Audit has a line for each request to the API; nil means none.
	Audit *audit.Log
	// PublicURL is the origin at which people open the pages, such as https://think.example.com, also for links;
	// required with SignIn.
	PublicURL string
}

// A Handler serves the pages and the API. It is safe for concurrent use.
type Handler struct {
	config Config
	api    *http.ServeMux
	values sequent.Values // of the store, for links and codes; nil for none
	masked *masked
}

// New returns a Handler.
func New(cfg Config) *Handler {
	if cfg.Ending == nil {
		cfg.Ending = context.Background()
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	h := &Handler{config: cfg, api: http.NewServeMux(), masked: &masked{turn: make(chan struct{}, 1)}}
	h.values, _ = sequent.As[sequent.Values](cfg.Store)
	h.route()
	return h
}

// ServeHTTP answers one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	for name, value := range map[string]string{
		"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'", // pages have one of their own
		"X-Content-Type-Options":  "nosniff", "Referrer-Policy": "no-referrer",
		"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
		"Permissions-Policy": "camera=(), geolocation=(), microphone=()",
	} {
		header.Set(name, value)
	}
	x := &exchange{h: h, w: w, r: r, control: http.NewResponseController(w)}
	defer x.end()
	x.limitWrite()
	if !strings.HasPrefix(r.URL.Path, APIPrefix) {
		if !h.config.Gate.OwnName(r) {
			x.refuse(errForeignHost)
			return
		}
		servePage(w, r) // it holds no data, so a link from anywhere may lead to it
		return
	}
	header.Set("Cache-Control", "no-store")
	x.observe()
	defer x.answered()
	switch {
	case !h.config.Gate.OwnName(r):
		x.refuse(errForeignHost)
	case !h.config.Gate.OwnPage(r):
		x.refuse(errForeignOrigin)
	default:
		x.r = x.r.WithContext(context.WithValue(x.r.Context(), exchangeKey{}, x))
		h.api.ServeHTTP(w, x.r)
	}
	if x.long {
		admission.ReadOn(h.config.Ending, w, r)
	}
}

var (
	errForeignHost = &Refusal{
		Status: http.StatusForbidden, Code: "foreign_host", Message: "the Host is no name of this server", Fix: admission.HostFix,
	}
	errForeignOrigin = &Refusal{
		Status: http.StatusForbidden, Code: "foreign_origin",
		Message: "pages of other sites may not call this server", Fix: admission.OriginFix,
	}
	errNoMethod = &Refusal{
		Status: http.StatusNotFound, Code: "no_such_method",
		Message: "the API has no such method", Fix: "see docs/reference/api.md; the current version is /api/v1/",
	}
)

// exchangeKey is the key of an exchange in the context of its request.
type exchangeKey struct{}

// A method of the API either admits a client or answers it.
type method = func(*exchange) error

// route registers the methods of the API.
func (h *Handler) route() {
	open, owned := func(*exchange) error { return nil }, (*exchange).admitOwner
	anyone, linked := (*exchange).admitAny, kept((*exchange).admitLink)
	routes := map[string][2]method{ // what admits, and what answers
		"/api/":                     {open, func(*exchange) error { return errNoMethod }},
		"GET /api/v1/{$}":           {open, (*exchange).about},
		"POST /api/v1/key":          {anyone, with((*exchange).redeem)},
		"POST /api/v1/login":        {anyone, with((*exchange).login)},
		"POST /api/v1/login/begin":  {anyone, signingIn((*exchange).beginSignIn)},
		"POST /api/v1/login/finish": {anyone, signingIn((*exchange).finishSignIn)},
		"POST /api/v1/login/renew":  {anyone, signingIn((*exchange).renewSignIn)},
		"DELETE /api/v1/login":      {anyone, (*exchange).logout},
		"POST /api/v1/login/code":   {owned, kept((*exchange).newCode)},
		"GET /api/v1/export":        {owned, (*exchange).export},
		"GET /api/v1/events":        {owned, (*exchange).events},
		"POST /api/v1/notes":        {owned, with((*exchange).note)},
		"POST /api/v1/store/list":   {owned, with((*exchange).storeList)},
		"POST /api/v1/store/search": {owned, with((*exchange).storeSearch)},
		"POST /api/v1/store/load":   {owned, with((*exchange).storeLoad)},
		"POST /api/v1/store/usage":  {owned, with((*exchange).storeUsage)},
	}
	for name, document := range readers {
		routes["GET /api/v1/"+name] = [2]method{owned, read(document)}
	}
	if h.links() {
		routes["POST /api/v1/links"] = [2]method{owned, kept(with((*exchange).makeLink))}
		routes["GET /api/v1/links"] = [2]method{owned, kept((*exchange).listLinks)}
		routes["DELETE /api/v1/links/{link}"] = [2]method{owned, kept((*exchange).revokeLink)}
		routes["POST /api/v1/linked"] = [2]method{anyone, kept(with((*exchange).openLink))}
		routes["GET "+linkedPath+"{link}/session"] = [2]method{linked, read(readSession)}
		routes["GET "+linkedPath+"{link}/article"] = [2]method{linked, read(readArticle)}
		routes["GET "+linkedPath+"{link}/events"] = [2]method{linked, (*exchange).events}
	}
	for pattern, m := range routes {
		h.api.HandleFunc(pattern, func(_ http.ResponseWriter, r *http.Request) {
			x := r.Context().Value(exchangeKey{}).(*exchange)
			err := m[0](x)
			if err == nil {
				err = m[1](x)
			}
			if err != nil && !errors.Is(err, errClosed) {
				x.refuse(err)
			}
		})
	}
}
