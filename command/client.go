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
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sequent-dev/sequent"
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
	if _, known := errors.AsType[*sequent.Error](err); known || errors.Is(err, context.Canceled) {
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
