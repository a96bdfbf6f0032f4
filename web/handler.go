package web

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/auth"
	"github.com/sequent-dev/sequent/internal/admission"
	"github.com/sequent-dev/sequent/internal/drafts"
	"github.com/sequent-dev/sequent/internal/governor"
)

// The prefixes of the paths that a Handler answers.
const (
	PagesPrefix = "/ui/"
	APIPrefix   = "/api/"
)

// A Config configures a Handler.
type Config struct {
	Engine   *sequent.Engine    // required
	Gate     *admission.Gate    // required
	Governor *governor.Governor // required
	Auth     auth.Authenticator // whose the sessions are; nil means those of Engine
	SignIn   SignIn             // through a provider, besides tokens; nil for none. With Auth and PublicURL
	Key      *Key               // admits only requests that carry it; nil means all. Not with Auth
	ReadOnly bool               // refuse notes
	Drafts   *drafts.Board      // thoughts that models are writing; nil for none
	Version  string             // of the program
	Logger   *slog.Logger       // nil means discard
	Ending   context.Context    // streams end when it is done; nil means never
	Timeout  time.Duration      // for a client to read a part of a reply; 0 means 30 s
	Now      func() time.Time   // nil means time.Now
	// Observe is called before a request to the API is answered. The request is answered with
	// the returned context, and end is called when it is answered or its stream has begun.
	// Nil means none.
	Observe func(ctx context.Context, a *Access) (_ context.Context, end func())
	// PublicURL is the origin at which people open the pages, such as https://think.example.com, also for links;
	// required with SignIn.
	PublicURL string
}

// A Handler serves the pages and the API. It is safe for concurrent use.
type Handler struct {
	config Config
	api    *http.ServeMux
	pages  *pages
	masked maskedSessions
}

// New returns a Handler.
func New(cfg Config) *Handler {
	cfg.Timeout = cmp.Or(cfg.Timeout, 30*time.Second)
	if cfg.Ending == nil {
		cfg.Ending = context.Background()
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	h := &Handler{config: cfg, api: http.NewServeMux(), pages: newPages()}
	h.route()
	return h
}

// policy is the content security policy of the pages. Nothing is loaded but the page's own
// scripts and styles, nothing from elsewhere, and no image at all.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// ServeHTTP answers one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Security-Policy", policy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
	v := &visit{h: h, w: w, r: r, control: http.NewResponseController(w)}
	defer v.end()
	v.limitWrite()
	if strings.HasPrefix(r.URL.Path, APIPrefix) {
		v.observe()
		defer v.answered()
	}
	if !h.config.Gate.OwnName(r) {
		v.refuse(&Refusal{Status: http.StatusForbidden, Code: "foreign_host", Message: "the server on this address answers to local names only"})
		return
	}
	if !strings.HasPrefix(r.URL.Path, APIPrefix) {
		h.pages.ServeHTTP(w, r) // they hold no data, so a link from anywhere may lead to them
		return
	}
	header.Set("Cache-Control", "no-store")
	if !h.config.Gate.OwnPage(r) {
		v.refuse(&Refusal{Status: http.StatusForbidden, Code: "foreign_origin", Message: "pages of other sites may not call this server"})
		return
	}
	h.api.ServeHTTP(w, v.request())
}

// visitKey is the key of a visit in the context of its request.
type visitKey struct{}

// route registers the methods of the API.
func (h *Handler) route() {
	open := func(pattern string, f func(*visit) error) {
		h.api.HandleFunc(pattern, func(_ http.ResponseWriter, r *http.Request) {
			v := r.Context().Value(visitKey{}).(*visit)
			if err := f(v); err != nil && !errors.Is(err, errClosed) {
				v.refuse(err)
			}
		})
	}
	owned := func(pattern string, f func(*visit) error) {
		open(pattern, func(v *visit) error {
			if err := v.admit(); err != nil {
				return err
			}
			room, err := v.client.Reply(v.r.Context(), "web "+pattern)
			if err != nil {
				return err
			}
			defer room.Sent()
			v.room = room
			return f(v)
		})
	}
	open("GET /api/v1/{$}", (*visit).about)
	open("POST /api/v1/key", (*visit).redeem)
	open("POST /api/v1/login", (*visit).login)
	open("POST /api/v1/login/begin", (*visit).beginSignIn)
	open("POST /api/v1/login/finish", (*visit).finishSignIn)
	open("POST /api/v1/login/renew", (*visit).renewSignIn)
	open("DELETE /api/v1/login", (*visit).logout)
	for name, d := range documents() {
		owned("GET /api/v1/"+name, func(v *visit) error { return v.read(d) })
	}
	owned("POST /api/v1/notes", (*visit).note)
	owned("GET /api/v1/export", (*visit).export)
	owned("POST /api/v1/export", (*visit).exportRedacted)
	owned("POST /api/v1/login/code", (*visit).newCode)
	h.routeStore(open, owned)
	h.routeShares(open, owned)
	open("GET /api/v1/events", (*visit).events)
	open("/api/", func(*visit) error {
		return &Refusal{Status: http.StatusNotFound, Code: "no_such_method", Message: "the API has no such method", Fix: "see docs/web.md; the current version is /api/v1/"}
	})
}
