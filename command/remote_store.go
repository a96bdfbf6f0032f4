package command

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/auth"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/web"
)

// addServerFlag adds the flag --server to a command that works on sessions with withStore.
func (p *program) addServerFlag(c *cobra.Command) {
	c.Flags().StringVar(&p.server, "server", "", "URL of a server whose sessions are used instead of a store's, with the token of SEQUENT_TOKEN or sequent login")
}

// fromServer reports whether the sessions are those of a server. It refuses --server
// beside --store; the command line takes precedence over the environment.
func (p *program) fromServer() (bool, error) {
	if p.server == "" || p.store == "" {
		return p.server != "", nil
	}
	switch inherited := func(flag string) bool { return slices.Contains(p.inherited, flag) }; {
	case inherited("store") && !inherited("server"):
		return true, nil
	case inherited("server") && !inherited("store"):
		return false, nil
	}
	return false, usagef("--server and --store are mutually exclusive")
}

// storeOnly has the commands that change sessions of a store, and what to do about those of a server.
var storeOnly = map[string]string{
	"delete":       "run sequent delete on the server's machine, with --store STORE",
	"import":       "run sequent import on the server's machine, with --store STORE and --owner SUBJECT",
	"owner rename": "run sequent owner rename on the server's machine, with --store STORE",
}

// needsStore refuses --server for a command that does not read sessions only.
func needsStore(c *cobra.Command) error {
	_, name, _ := strings.Cut(c.CommandPath(), " ")
	return &sequent.Error{
		Code: sequent.CodeReadOnly, Msg: c.CommandPath() + " works on a store, not on a server",
		Fix: cmp.Or(storeOnly[name], "leave --server out, or run "+c.CommandPath()+" on the server's machine with --store STORE"),
	}
}

// mayUseStore refuses to change sessions of this machine's store if the environment names a server
// and no store: the sessions of the server may have been meant.
func (p *program) mayUseStore(c *cobra.Command) error {
	_, name, _ := strings.Cut(c.CommandPath(), " ")
	if storeOnly[name] == "" || p.store != "" || p.getenv(variable("server")) == "" {
		return nil
	}
	return &sequent.Error{
		Code: sequent.CodeReadOnly, Msg: c.CommandPath() + " works on a store, and " + variable("server") + " names a server",
		Fix: storeOnly[name] + "; for the store of this machine, unset " + variable("server"),
	}
}

// serverShown returns the value of --server without a key.
func (p *program) serverShown() string {
	address, _, _ := strings.Cut(p.server, "#")
	return address
}

// openServer is [app.OpenExisting] for the server of --server. The sessions are those of
// the token's subject.
func (p *program) openServer(ctx context.Context, cfg app.Config) (*app.App, error) {
	r, err := p.connect(p.server)
	if err != nil {
		return nil, err
	}
	var about struct {
		Owner  string `json:"owner"`
		Scope  string `json:"scope"`
		SignIn string `json:"signIn"`
	}
	if err := r.get(ctx, "", nil, &about); err != nil {
		return nil, r.explain(err)
	}
	p.self, r.signIn = about.Owner, about.SignIn != ""
	s := &remoteStore{remote: r, watches: web.WatchQuery{Owner: cmp.Or(p.owner, p.self), AllOwners: p.allOwners}, followed: make(chan struct{})}
	s.report = func(err error) {
		fmt.Fprintf(p.err, "The connection to %s is lost: %v. Reconnecting.\n", r.base.Host, err)
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
	watches web.WatchQuery // which sessions are watched
	report  func(error)    // tells that the connection was lost

	feed     sequent.Feed
	begin    sync.Once
	watching atomic.Bool     // there is a watch: reads wait for the server
	failing  atomic.Bool     // a lost connection was reported
	lasting  context.Context // until Close
	cancel   context.CancelFunc
	followed chan struct{} // closed when nothing follows the server
}

var _ sequent.Store = (*remoteStore)(nil)

// Load implements [sequent.Store].
func (s *remoteStore) Load(ctx context.Context, k sequent.Key, have sequent.Position, limit int) (sequent.Header, []sequent.Entry, error) {
	var log []sequent.Entry
	for at := have; ; {
		var part web.Loaded
		if err := s.ask(ctx, "load", web.LoadQuery{Key: k, Have: at, Limit: limit}, &part); err != nil {
			return sequent.Header{}, nil, err
		}
		h := part.Header
		if c := part.Corrupt; c != nil {
			return h, append(log, part.Entries...), &sequent.Error{Code: sequent.Code(c.Code), Field: c.Field, Msg: c.Message, Fix: c.Fix}
		}
		if len(log) > 0 && !h.Continues(at, part.Entries) { // begun again meanwhile: this is its beginning
			log, at = nil, sequent.Position{}
		}
		before := at
		log, at = append(log, part.Entries...), at.After(&h, part.Entries)
		if limit > 0 || len(part.Entries) == 0 || at.Len >= h.Len && at.Entries >= h.Entries {
			return h, log, nil
		}
		if at == before {
			return h, nil, fmt.Errorf("the server's reply about the session %q has nothing new", k.ID)
		}
	}
}

// List implements [sequent.Store].
func (s *remoteStore) List(ctx context.Context, q sequent.Query) (page sequent.Page, err error) {
	err = s.ask(ctx, "list", q, &page)
	return page, err
}

// Search implements [sequent.Store].
func (s *remoteStore) Search(ctx context.Context, q sequent.SearchQuery) (hits sequent.Hits, err error) {
	err = s.ask(ctx, "search", q, &hits)
	return hits, err
}

// Usage implements [sequent.Store].
func (s *remoteStore) Usage(ctx context.Context, q sequent.UsageQuery) (all []sequent.Usage, err error) {
	err = s.ask(ctx, "usage", q, &all)
	return all, err
}

// errRemote is the error of all that changes sessions.
var errRemote = &sequent.Error{
	Code: sequent.CodeReadOnly, Msg: "the sessions of a server can only be read from here",
	Fix: "run sequent on the server's machine, with --store",
}

// Commit implements [sequent.Store].
func (s *remoteStore) Commit(context.Context, []*sequent.Write) error { return errRemote }

// Delete implements [sequent.Store].
func (s *remoteStore) Delete(context.Context, sequent.Key, int64) error { return errRemote }

// Sweep implements [sequent.Store].
func (s *remoteStore) Sweep(context.Context, sequent.SweepQuery, int) (int, error) {
	return 0, errRemote
}

// AddRefused implements [sequent.Store].
func (s *remoteStore) AddRefused(context.Context, string, int64) error { return errRemote }

// Watch implements [sequent.Store]. From then on, reads wait for a server that is restarted.
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

// Waits before a request is repeated.
const (
	firstWait = 250 * time.Millisecond
	lastWait  = 10 * time.Second
)

// follow reports to the feed what changes on the server, through restarts of it. It returns an
// error that does not pass by itself, or that of ctx.
func (s *remoteStore) follow(ctx context.Context) error {
	query, err := json.Marshal(s.watches)
	if err != nil {
		return err
	}
	for wait := firstWait; ; wait = min(2*wait, lastWait) {
		err := s.events(ctx, "store/watch", query, func(event string, data []byte) error {
			wait = firstWait
			s.failing.Store(false)
			if event != web.ChangedEvent {
				s.feed.Lost()
				return nil
			}
			var keys []sequent.Key
			if err := json.Unmarshal(data, &keys); err != nil {
				return fmt.Errorf("the server's stream cannot be read: %w", err)
			}
			topics := make([]sequent.Topic, len(keys))
			for i, k := range keys {
				topics[i] = k.Topic()
			}
			s.feed.Touched(topics...)
			return nil
		})
		if err := s.again(ctx, err, wait); err != nil {
			return err
		}
	}
}

// again waits before a request is repeated that has failed. It returns the error of one that
// fails again.
func (s *remoteStore) again(ctx context.Context, err error, wait time.Duration) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	refused, ok := errors.AsType[*remoteError](err)
	if ok && refused.status < 500 && refused.status != http.StatusTooManyRequests {
		return s.storeError(err)
	}
	if _, ok := errors.AsType[*app.ConfigError](err); ok {
		return err // the sign-in has ended
	}
	if e, ok := errors.AsType[*sequent.Error](err); ok && e.Code != sequent.CodeUnavailable { // the provider may come back
		return err
	}
	if wait > firstWait && !s.failing.Swap(true) {
		if request, ok := errors.AsType[*url.Error](err); ok { // which repeats the URL
			err = request.Err
		}
		s.report(err)
	}
	t := time.NewTimer(wait*3/4 + rand.N(wait/2))
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// maxAttempts is how often a request is sent that the server has no room for.
const maxAttempts = 5

// ask sends a query to a method of the store, and again while the server is busy or, when
// sessions are watched, cannot be reached.
func (s *remoteStore) ask(ctx context.Context, method string, query, into any) error {
	body, err := json.Marshal(query)
	if err != nil {
		return err
	}
	wait := firstWait
	for attempt := 1; ; attempt++ {
		err := s.post(ctx, "store/"+method, nil, body, into)
		refused, ok := errors.AsType[*remoteError](err)
		switch {
		case err == nil:
			return nil
		case s.watching.Load():
			if err := s.again(ctx, err, wait); err != nil {
				return err
			}
			wait = min(2*wait, lastWait)
			continue
		case !ok || refused.wait == 0 || attempt == maxAttempts:
			return s.storeError(err)
		}
		select {
		case <-time.After(min(refused.wait, 10*time.Second)):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// post sends a POST request to the API.
func (r *remote) post(ctx context.Context, name string, query url.Values, body []byte, into any) error {
	reply, err := r.send(ctx, http.MethodPost, name, query, bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer reply.Close()
	if err := json.NewDecoder(io.LimitReader(reply, maxReply)).Decode(into); err != nil {
		return fmt.Errorf("the reply to %s is cut off or damaged: %w", name, err)
	}
	return nil
}

// waitOf returns how long a server asks to wait before a request is repeated; 0 means that
// it is of no use.
func waitOf(reply *http.Response) time.Duration {
	if reply.StatusCode != http.StatusTooManyRequests && reply.StatusCode != http.StatusServiceUnavailable {
		return 0
	}
	seconds, err := strconv.Atoi(reply.Header.Get("Retry-After"))
	if err != nil || seconds < 1 {
		return 0
	}
	return time.Duration(seconds) * time.Second
}

// storeError returns an error of a request as that of a store, where the engine has a code
// for it.
func (r *remote) storeError(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	refused, ok := errors.AsType[*remoteError](err)
	switch {
	case ok && refused.status == http.StatusTooManyRequests:
		return &sequent.Error{Code: sequent.CodeBusy, Msg: refused.Error(), Fix: "try again"}
	case ok && slices.Contains(sequent.Codes(), sequent.Code(refused.Code)):
		return &sequent.Error{Code: sequent.Code(refused.Code), Field: refused.Field, Msg: refused.Message, Fix: refused.Fix}
	}
	return r.explain(err)
}
