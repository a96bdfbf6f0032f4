package command

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/auth"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/web"
)

// A remote is a server with the API of the viewer.
type remote struct {
	base   *url.URL // of the server, without a path
	token  string   // empty for that of a sign-in, if there is one
	client *http.Client
	signIn bool // people sign in to the server through a provider
}

// tokenVariable is the environment variable with the token for a server.
const tokenVariable = "SEQUENT_TOKEN"

// connect returns the server of --server. It sends the key of the URL, otherwise the token of
// SEQUENT_TOKEN, otherwise that of sequent server login, renewed when it expires.
func (p *program) connect() (*remote, error) { return newRemote(p.server, p.getenv(tokenVariable)) }

// newRemote reads the URL of a server: its root, or what sequent view prints, which has
// the key. A token crosses networks with TLS only.
func newRemote(address, token string) (*remote, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return nil, invalid("server", address, "a URL such as https://think.example.com")
	}
	if fragment, err := url.ParseQuery(u.Fragment); err == nil && fragment.Get("key") != "" {
		token = fragment.Get("key")
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse // the token is for this server
	}}
	r := &remote{base: &url.URL{Scheme: u.Scheme, Host: strings.ToLower(u.Host)}, token: token, client: client}
	if token == "" {
		return r, nil
	}
	return r, r.mayCarryToken()
}

// mayCarryToken refuses a server to which a token would go unencrypted over a network.
func (r *remote) mayCarryToken() error {
	ip := net.ParseIP(r.base.Hostname())
	if r.base.Scheme == "http" && r.base.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return &usageError{msg: "a token would cross the network unencrypted to " + r.base.Host, fix: "use a URL with https"}
	}
	return nil
}

// A remoteError is what a server refuses.
type remoteError struct {
	status int
	wait   time.Duration // before another try; 0 for none
	web.Refusal
}

func (e *remoteError) Error() string { return "the server says: " + e.Message }

// send sends a request to the API. A body that is not nil is sent as JSON.
func (r *remote) send(ctx context.Context, method, name string, query url.Values, body any) (io.ReadCloser, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	u := r.base.JoinPath(web.APIPrefix, "v1/"+name)
	u.RawQuery = query.Encode()
	request, err := http.NewRequestWithContext(ctx, method, u.String(), nil)
	if err != nil {
		return nil, err
	}
	if body != nil {
		request.Body, request.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
		request.Header.Set("Content-Type", "application/json")
	}
	token := r.token
	if token == "" && r.mayCarryToken() == nil {
		if token, err = app.ServerToken(ctx, r.base.String()); err != nil {
			return nil, err
		}
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	reply, err := r.client.Do(request)
	if err != nil {
		return nil, err
	}
	if reply.StatusCode == http.StatusOK {
		return reply.Body, nil
	}
	defer reply.Body.Close()
	refused := struct{ Error web.Refusal }{}
	if json.NewDecoder(io.LimitReader(reply.Body, 64<<10)).Decode(&refused) != nil || refused.Error.Message == "" {
		refused.Error = web.Refusal{
			Message: reply.Status,
			Fix:     "check that the URL is that of sequent serve --http or sequent view",
		}
	}
	e := &remoteError{status: reply.StatusCode, Refusal: refused.Error}
	passes := e.status == http.StatusTooManyRequests || e.status == http.StatusServiceUnavailable
	if seconds, err := strconv.Atoi(reply.Header.Get("Retry-After")); err == nil && passes {
		e.wait = time.Duration(max(seconds, 0)) * time.Second
	}
	return nil, e
}

// maxReply limits the size of a reply in bytes. Servers limit theirs to much less.
const maxReply = 64 << 20

// call sends a request and reads the reply. Its errors are what explain takes.
func (r *remote) call(ctx context.Context, method, name string, query url.Values, body, into any) error {
	reply, err := r.send(ctx, method, name, query, body)
	if err != nil {
		return err
	}
	defer reply.Close()
	if err := json.NewDecoder(io.LimitReader(reply, maxReply)).Decode(into); err != nil {
		return fmt.Errorf("the server's reply to %s is cut off or damaged: %w", name, err)
	}
	return nil
}

// events reads the data of a stream's events, until it ends or on returns an error.
func (r *remote) events(ctx context.Context, query url.Values, on func(data []byte) error) error {
	const maxEvent = 8 << 20 // bytes
	body, err := r.send(ctx, http.MethodGet, "events", query, nil)
	if err != nil {
		return err
	}
	defer body.Close()
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, maxEvent)
	var data []byte
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch {
		case lines.Text() == "" && data != nil:
			if err := on(data); err != nil {
				return err
			}
			data = nil
		case name == "data":
			data = []byte(value)
		}
	}
	return cmp.Or(lines.Err(), io.EOF)
}

// explain returns an error of a request as an error of the command: with the code of the engine, if
// it is one of those.
func (r *remote) explain(err error) error {
	refused, ok := errors.AsType[*remoteError](err)
	switch {
	case !ok:
		return unreachable(err)
	case refused.status == http.StatusTooManyRequests:
		return &sequent.Error{Code: sequent.CodeBusy, Msg: refused.Error(), Fix: "try again"}
	case slices.Contains(sequent.Codes(), sequent.Code(refused.Code)):
		return &sequent.Error{Code: sequent.Code(refused.Code), Field: refused.Field, Msg: refused.Message, Fix: refused.Fix}
	case refused.Code == "key_required":
		return &usageError{msg: refused.Error(), fix: "pass the URL that sequent view prints"}
	case refused.status == http.StatusUnauthorized:
		return &usageError{msg: refused.Error(), fix: r.tokenFix()}
	case refused.status == http.StatusNotFound && refused.Code == "no_such_method":
		return &usageError{
			msg: "the server " + r.base.Host + " is older than this command",
			fix: "upgrade sequent on the server, and restart it",
		}
	case refused.status == http.StatusNotFound && refused.Code == "":
		return &usageError{msg: r.base.Host + " is no server of sequent, or one without the viewer's API", fix: refused.Fix}
	}
	return &usageError{msg: refused.Error(), fix: refused.Fix}
}

// tokenFix says how to get a token that the server accepts.
func (r *remote) tokenFix() string {
	login := "sequent server login --server " + r.base.String()
	switch {
	case r.signIn && r.token == "":
		return "run " + login + ", or set SEQUENT_TOKEN to a token of the server"
	case r.signIn:
		return "run " + login + " and unset SEQUENT_TOKEN, or set it to another token of the server"
	case r.token == "":
		return "set SEQUENT_TOKEN to your token; whoever runs the server makes one with sequent server token new NAME"
	}
	return "set SEQUENT_TOKEN to another token; whoever runs the server makes one with sequent server token new NAME"
}

// unreachable returns the error for a server that did not answer. An error about a sign-in stays
// as it is.
func unreachable(err error) error {
	_, setting := errors.AsType[*app.ConfigError](err)
	if _, known := errors.AsType[*sequent.Error](err); known || setting || errors.Is(err, context.Canceled) {
		return err
	}
	return sequent.Errorf(sequent.CodeUnavailable, "", "check the URL, and that sequent serve --http runs there",
		"the server cannot be reached: %s", withoutURL(err).Error())
}

// withoutURL returns the cause of an error of a request.
func withoutURL(err error) error {
	if request, ok := errors.AsType[*url.Error](err); ok {
		return request.Err
	}
	return err
}

// openServer is [app.OpenExisting] for the server of --server. The sessions are those of
// the token's subject.
func (p *program) openServer(ctx context.Context, cfg app.Config) (*app.App, error) {
	r, err := p.connect()
	if err != nil {
		return nil, err
	}
	var about struct{ Owner, Scope, SignIn string }
	if err := r.call(ctx, http.MethodGet, "", nil, nil, &about); err != nil {
		return nil, r.explain(err)
	}
	p.self, r.signIn = about.Owner, about.SignIn != ""
	s := &remoteStore{remote: r, watches: url.Values{"owner": {cmp.Or(p.owner, p.self)}}, followed: make(chan struct{})}
	if p.allOwners {
		s.watches = url.Values{"all": {"true"}}
	}
	s.report = func(err error) {
		p.tell("The connection to %s is lost: %v. Reconnecting.", r.base.Host, withoutURL(err))
	}
	s.lasting, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	if p.allVisible { // what the token sees
		p.allOwners = p.self == "" || about.Scope == auth.Admin.String()
	}
	return app.Over(s, cfg), nil
}

// A remoteStore is the sessions of a server, as far as the token allows. It cannot be
// changed. What each method returns is what the engine of the server does.
type remoteStore struct {
	*remote
	watches url.Values  // which sessions are watched
	report  func(error) // tells that the connection was lost

	feed     sequent.Feed
	begin    sync.Once
	watching atomic.Bool     // there is a watch: reads wait for the server
	lost     atomic.Bool     // a lost connection was reported
	lasting  context.Context // until Close
	cancel   context.CancelFunc
	followed chan struct{} // closed when nothing follows the server
}

// Load implements [sequent.Store].
func (s *remoteStore) Load(ctx context.Context, k sequent.Key, have sequent.Position) (sequent.Header, []sequent.Entry, error) {
	var log []sequent.Entry
	for {
		var part web.Loaded
		if err := s.ask(ctx, "load", web.LoadQuery{Key: k, Have: have}, &part); err != nil {
			return sequent.Header{}, nil, err
		}
		h, n := part.Header, len(part.Entries)
		if n > 0 && part.Entries[0].Place != have.Entries+1 { // begun again meanwhile: this is its beginning
			log = nil
		}
		log = append(log, part.Entries...)
		if n == 0 || part.Entries[n-1].Place <= have.Entries || part.Entries[n-1].Place >= h.Entries {
			return h, log, nil
		}
		last := &part.Entries[n-1]
		have = sequent.Position{Epoch: h.Epoch, Entries: last.Place, Head: last.Hash}
	}
}

// List implements [sequent.Store].
func (s *remoteStore) List(ctx context.Context, q sequent.Query) (page sequent.Page, err error) {
	err = s.ask(ctx, "list", q, &page)
	return page, err
}

// Search implements [sequent.Searcher].
func (s *remoteStore) Search(ctx context.Context, q sequent.SearchQuery) (hits sequent.Hits, err error) {
	err = s.ask(ctx, "search", q, &hits)
	return hits, err
}

// Usage implements [sequent.UsageStore].
func (s *remoteStore) Usage(ctx context.Context, q sequent.UsageQuery) (all []sequent.Usage, err error) {
	err = s.ask(ctx, "usage", q, &all)
	return all, err
}

// errRemote is the error of all that changes sessions.
var errRemote = sequent.Errorf(sequent.CodeReadOnly, "", "run sequent on the server's machine, with --store",
	"the sessions of a server can only be read from here")

// Commit implements [sequent.Store].
func (s *remoteStore) Commit(context.Context, []*sequent.Write) error { return errRemote }

// Delete implements [sequent.Store].
func (s *remoteStore) Delete(context.Context, sequent.Key, int64) error { return errRemote }

// Watch implements [sequent.Watcher]. From then on, reads wait for a server that is restarted.
func (s *remoteStore) Watch(context.Context) (*sequent.Watch, error) {
	s.watching.Store(true)
	s.begin.Do(func() {
		go func() {
			defer close(s.followed)
			s.feed.Close(s.follow(s.lasting))
		}()
	})
	return s.feed.Watch(), nil
}

// Close implements [sequent.Store].
func (s *remoteStore) Close() error {
	s.cancel()
	s.begin.Do(func() { close(s.followed) })
	<-s.followed
	s.client.CloseIdleConnections()
	return nil
}

// ask sends a query to a method of the store.
func (s *remoteStore) ask(ctx context.Context, method string, query, into any) error {
	return s.retry(ctx, func(func()) error { return s.call(ctx, http.MethodPost, "store/"+method, nil, query, into) })
}

// follow reports to the feed what changes on the server, through restarts of it. It returns an
// error that does not pass by itself, or that of ctx.
func (s *remoteStore) follow(ctx context.Context) error {
	return s.retry(ctx, func(works func()) error {
		first := true
		return s.events(ctx, s.watches, func(data []byte) error {
			works()
			var list web.List
			if err := json.Unmarshal(data, &list); err != nil {
				return fmt.Errorf("the server's stream cannot be read: %w", err)
			}
			if first || list.More && len(list.Changed) == len(list.Order) { // more may have changed than is listed
				s.feed.Lost()
			}
			for _, c := range append(list.Changed, list.Gone...) {
				s.feed.Touched(sequent.Key{Owner: c.Owner, ID: sequent.ID(c.ID)}.Topic())
			}
			first = false
			return nil
		})
	})
}

// Waits before a request is repeated, and how often one is sent that the server has no room for.
const (
	firstWait   = 250 * time.Millisecond
	lastWait    = 10 * time.Second
	maxAttempts = 5
)

// retry calls try until it succeeds or fails for good. It waits for a server that asks to wait. While
// sessions are watched it also waits for one that fails or cannot be reached. Try may call works when the
// server answers, so that the next wait is short again.
func (s *remoteStore) retry(ctx context.Context, try func(works func()) error) error {
	wait, attempts := firstWait, 0
	for {
		err := try(func() {
			wait, attempts = firstWait, 0
			s.lost.Store(false)
		})
		if err == nil || ctx.Err() != nil {
			return cmp.Or(ctx.Err(), err)
		}
		attempts++
		pause := wait*3/4 + rand.N(wait/2)
		refused, ok := errors.AsType[*remoteError](err)
		if ok && refused.wait > 0 {
			pause = min(refused.wait, lastWait)
		}
		switch watching := s.watching.Load(); {
		case watching && passes(err):
			if attempts > 1 && !s.lost.Swap(true) {
				s.report(err)
			}
		case watching || !ok || refused.wait == 0 || attempts == maxAttempts:
			return s.explain(err)
		}
		wait = min(2*wait, lastWait)
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// passes reports whether an error passes by itself, when the server or its provider come back.
func passes(err error) bool {
	if refused, ok := errors.AsType[*remoteError](err); ok {
		return refused.status >= 500 || refused.status == http.StatusTooManyRequests
	}
	if _, ok := errors.AsType[*app.ConfigError](err); ok {
		return false // the sign-in has ended
	}
	e, ok := errors.AsType[*sequent.Error](err)
	return !ok || e.Code == sequent.CodeUnavailable
}

// sendNote adds a note to a session of the server, and returns what was recorded.
func (p *program) sendNote(ctx context.Context, k sequent.Key, n sequent.Note) (sequent.Note, error) {
	r, err := p.connect()
	if err != nil {
		return n, err
	}
	var made sequent.Note
	body := map[string]any{"id": k.ID, "seq": n.Seq, "kind": n.Kind, "text": n.Text}
	if err := r.call(ctx, http.MethodPost, "notes", url.Values{"owner": {k.Owner}}, body, &made); err != nil {
		return n, r.explain(err)
	}
	n.From, n.At = made.From, made.At
	return n, nil
}
