package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
}

// tokenVariable is the environment variable with the token for a server.
const tokenVariable = "SEQUENT_TOKEN"

// newRemote reads the URL of a server: its root, or what sequent view prints, which has the key. The key is
// sent, otherwise the token, otherwise that of sequent server login, renewed when it expires. They cross
// networks with TLS only.
func newRemote(address, token string) (*remote, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return nil, invalid("--server", address, "a URL such as https://think.example.com")
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

// call sends a request to the API and reads the reply. A body that is not nil is sent as JSON. Its errors are
// what explain takes. Servers limit their replies to much less than 64 MiB.
func (r *remote) call(ctx context.Context, method, name string, query url.Values, body, into any) error {
	u := r.base.JoinPath(web.APIPrefix, "v1/"+name)
	u.RawQuery = query.Encode()
	request, err := http.NewRequestWithContext(ctx, method, u.String(), nil)
	if err != nil {
		return err
	}
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		request.Body, request.ContentLength = io.NopCloser(strings.NewReader(string(text))), int64(len(text))
		request.Header.Set("Content-Type", "application/json")
	}
	token := r.token
	if token == "" && r.mayCarryToken() == nil {
		if token, err = app.ServerToken(ctx, r.base.String()); err != nil {
			return err
		}
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	reply, err := r.client.Do(request)
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	if reply.StatusCode == http.StatusOK {
		if err := json.NewDecoder(io.LimitReader(reply.Body, 64<<20)).Decode(into); err != nil {
			return fmt.Errorf("the server's reply to %s is cut off or damaged: %w", name, err)
		}
		return nil
	}
	refused := struct{ Error web.Refusal }{}
	if json.NewDecoder(io.LimitReader(reply.Body, 64<<10)).Decode(&refused) != nil || refused.Error.Message == "" {
		refused.Error = web.Refusal{Message: reply.Status, Fix: "check that the URL is that of sequent serve --http or sequent view"}
	}
	e := &remoteError{status: reply.StatusCode, Refusal: refused.Error}
	if seconds, err := strconv.Atoi(reply.Header.Get("Retry-After")); err == nil && passes(e) {
		e.wait = time.Duration(max(seconds, 0)) * time.Second
	}
	return e
}

// explain returns an error of a request as an error of the command: with the code of the engine, if
// it is one of those. An error about a sign-in stays as it is.
func (r *remote) explain(err error) error {
	refused, ok := errors.AsType[*remoteError](err)
	if !ok {
		if _, known := errors.AsType[*sequent.Error](err); err == nil || known || errors.Is(err, context.Canceled) {
			return err
		}
		return sequent.Errorf(sequent.CodeUnavailable, "", "check the URL, and that sequent serve --http runs there",
			"the server cannot be reached: %s", withoutURL(err).Error())
	}
	switch {
	case refused.status == http.StatusTooManyRequests:
		return &sequent.Error{Code: sequent.CodeBusy, Msg: refused.Error(), Fix: "try again"}
	case slices.Contains(sequent.Codes(), sequent.Code(refused.Code)):
		return &sequent.Error{Code: sequent.Code(refused.Code), Field: refused.Field, Msg: refused.Message, Fix: refused.Fix}
	case refused.Code == "key_required":
		return &usageError{msg: refused.Error(), fix: "pass the URL that sequent view prints"}
	case refused.status == http.StatusUnauthorized:
		return &usageError{msg: refused.Error(), fix: "set SEQUENT_TOKEN to a token that sequent server token new has made there, or unset it and run " +
			"sequent server login --server " + r.base.String()}
	case refused.status == http.StatusNotFound && refused.Code == "":
		return &usageError{msg: r.base.Host + " is no server of sequent, or one without the viewer's API", fix: refused.Fix}
	}
	return &usageError{msg: refused.Error(), fix: refused.Fix}
}

// withoutURL returns the cause of an error of a request.
func withoutURL(err error) error {
	if request, ok := errors.AsType[*url.Error](err); ok {
		return request.Err
	}
	return err
}

// passes reports whether an error passes by itself, when the server or its provider come back.
func passes(err error) bool {
	if refused, ok := errors.AsType[*remoteError](err); ok {
		return refused.status >= 500 || refused.status == http.StatusTooManyRequests
	}
	e, ok := errors.AsType[*sequent.Error](err) // of another code: the sign-in has ended, for example
	return !ok || e.Code == sequent.CodeUnavailable
}

// openServer is [app.OpenExisting] for the server of --server. The sessions are those of
// the token's subject.
func (p *program) openServer(ctx context.Context, cfg app.Config) (*app.App, error) {
	r, err := newRemote(p.server, p.getenv(tokenVariable))
	if err != nil {
		return nil, err
	}
	var about struct{ Owner, Scope string }
	if err := r.call(ctx, http.MethodGet, "", nil, nil, &about); err != nil {
		return nil, r.explain(err)
	}
	p.remote, p.self = r, about.Owner
	if p.allVisible { // what the token sees
		p.allOwners = p.self == "" || about.Scope == auth.Admin.String()
	}
	s := &remoteStore{remote: r}
	s.lost = func(err error) {
		p.tell("The connection to %s is lost: %v. Reconnecting.", r.base.Host, withoutURL(err))
	}
	s.lasting, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	return app.Over(s, cfg), nil
}

// A remoteStore is the sessions of a server, as far as the token allows. It cannot be
// changed. What each method returns is what the engine of the server does.
type remoteStore struct {
	*remote
	lost func(error) // tells that the connection was lost

	feed     sequent.Feed
	watching atomic.Bool     // there is a watch: reads wait for a server that is restarted
	lasting  context.Context // until Close
	cancel   context.CancelFunc
	ticks    sync.WaitGroup
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

// Search implements [sequent.Searcher]. A long page comes in parts.
func (s *remoteStore) Search(ctx context.Context, q sequent.SearchQuery) (hits sequent.Hits, err error) {
	for left := q.PageSize(); ; {
		q.Limit = min(left, web.MaxFound)
		var part sequent.Hits
		if err := s.ask(ctx, "search", q, &part); err != nil {
			return sequent.Hits{}, err
		}
		part.Hits = append(hits.Hits, part.Hits...)
		hits = part
		if left, q.Cursor = left-q.Limit, hits.Next; left == 0 || q.Cursor == "" {
			return hits, nil
		}
	}
}

// Usage implements [sequent.UsageStore].
func (s *remoteStore) Usage(ctx context.Context, q sequent.Query) (all []sequent.Usage, err error) {
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

// Watch implements [sequent.Watcher]. Each second any session may have changed: who watches asks, which costs
// little for a session that has not. A page of the latest would not show that an older one was deleted.
func (s *remoteStore) Watch(context.Context) (*sequent.Watch, error) {
	if !s.watching.Swap(true) {
		s.ticks.Go(func() {
			for pause(s.lasting, time.Second) == nil {
				s.feed.Lost()
			}
			s.feed.Close(nil)
		})
	}
	return s.feed.Watch(), nil
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close implements [sequent.Store].
func (s *remoteStore) Close() error {
	s.cancel()
	s.ticks.Wait()
	s.client.CloseIdleConnections()
	return nil
}

// ask sends a query to a method of the store. It asks again when the server has asked it to wait. While sessions
// are watched it does so also when the server fails or cannot be reached, until ctx is done.
func (s *remoteStore) ask(ctx context.Context, method string, query, into any) error {
	const maxAttempts = 5
	for attempt := 1; ; attempt++ {
		err := s.call(ctx, http.MethodPost, "store/"+method, nil, query, into)
		if err == nil || ctx.Err() != nil {
			return ctx.Err()
		}
		refused, _ := errors.AsType[*remoteError](err)
		lasts := s.watching.Load() && passes(err)
		if !lasts && (refused == nil || refused.wait == 0 || attempt == maxAttempts) {
			return s.explain(err)
		}
		if lasts && attempt == 1 {
			s.lost(err)
		}
		wait := time.Duration(min(attempt, maxAttempts)) * time.Second
		if refused != nil {
			wait = max(wait, min(refused.wait, 10*time.Second))
		}
		if err := pause(ctx, wait); err != nil {
			return err
		}
	}
}
