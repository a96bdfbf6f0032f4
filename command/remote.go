package command

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
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

// connect returns the server at a URL, for commands with --server. It sends the key of the URL,
// otherwise the token of SEQUENT_TOKEN, otherwise that of sequent login, renewed when it expires.
func (p *program) connect(address string) (*remote, error) {
	return newRemote(address, p.getenv("SEQUENT_TOKEN"))
}

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
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }} // the token is for this server
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

// bearer returns the token for a request; empty for none.
func (r *remote) bearer(ctx context.Context) (string, error) {
	if r.token != "" || r.mayCarryToken() != nil {
		return r.token, nil
	}
	return app.ServerToken(ctx, r.base.String())
}

// A remoteError is what a server refuses.
type remoteError struct {
	status int
	wait   time.Duration // before another try; 0 for none
	web.Refusal
}

func (e *remoteError) Error() string { return "the server says: " + e.Message }

// send sends a request to the API. A body is JSON.
func (r *remote) send(ctx context.Context, method, name string, query url.Values, body io.Reader) (io.ReadCloser, error) {
	u := r.base.JoinPath(web.APIPrefix, "v1/"+name)
	u.RawQuery = query.Encode()
	request, err := http.NewRequestWithContext(ctx, method, u.String(), body)
	if err != nil {
		return nil, err
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	token, err := r.bearer(ctx)
	if err != nil {
		return nil, err
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
	refused := struct {
		Error *web.Refusal `json:"error"`
	}{&web.Refusal{}}
	if json.NewDecoder(io.LimitReader(reply.Body, 64<<10)).Decode(&refused) != nil || refused.Error == nil || refused.Error.Message == "" {
		refused.Error = &web.Refusal{Message: reply.Status, Fix: "check that the URL is that of sequent serve --http or sequent view"}
	}
	return nil, &remoteError{reply.StatusCode, waitOf(reply), *refused.Error}
}

// explain returns an error of a request as an error of the command.
func (r *remote) explain(err error) error {
	refused, ok := errors.AsType[*remoteError](err)
	if !ok {
		return unreachable(err)
	}
	fix := refused.Fix
	switch {
	case refused.Code == "key_required":
		fix = "pass the URL that sequent view prints"
	case refused.status == http.StatusUnauthorized:
		fix = r.tokenFix()
	case refused.status == http.StatusNotFound && refused.Code == "no_such_method":
		return &usageError{msg: "the server " + r.base.Host + " is older than this command", fix: "upgrade sequent on the server, and restart it"}
	case refused.status == http.StatusNotFound && refused.Code == "":
		return &usageError{msg: r.base.Host + " is no server of sequent, or one without the viewer's API", fix: refused.Fix}
	}
	return &usageError{msg: refused.Error(), fix: fix}
}

// tokenFix says how to get a token that the server accepts.
func (r *remote) tokenFix() string {
	login := "sequent login --server " + r.base.String()
	switch {
	case r.signIn && r.token == "":
		return "run " + login + ", or set SEQUENT_TOKEN to a token of the server"
	case r.signIn:
		return "run " + login + " and unset SEQUENT_TOKEN, or set it to another token of the server"
	case r.token == "":
		return "set SEQUENT_TOKEN to your token; whoever runs the server makes one with sequent token new NAME"
	}
	return "set SEQUENT_TOKEN to another token; whoever runs the server makes one with sequent token new NAME"
}

// unreachable returns the error for a server that did not answer. An error about a sign-in stays
// as it is.
func unreachable(err error) error {
	if _, setting := errors.AsType[*app.ConfigError](err); setting {
		return err
	}
	if _, known := errors.AsType[*sequent.Error](err); known {
		return err
	}
	if request, ok := errors.AsType[*url.Error](err); ok { // which repeats the URL
		err = request.Err
	}
	return &sequent.Error{Code: sequent.CodeUnavailable, Msg: "the server cannot be reached: " + err.Error(), Fix: "check the URL, and that sequent serve --http runs there"}
}

// get reads a document.
func (r *remote) get(ctx context.Context, name string, query url.Values, into any) error {
	body, err := r.send(ctx, http.MethodGet, name, query, nil)
	if err != nil {
		return err
	}
	defer body.Close()
	if err := json.NewDecoder(io.LimitReader(body, maxReply)).Decode(into); err != nil {
		return fmt.Errorf("the server's reply to %s cannot be read: %w", name, err)
	}
	return nil
}

// maxReply limits the size of a reply in bytes. Servers limit theirs to much less.
const maxReply = 64 << 20

// maxEvent limits the size of an event in bytes.
const maxEvent = 8 << 20

// events sends a query and reads the events of the reply, until it ends or on returns an error.
func (r *remote) events(ctx context.Context, name string, query []byte, on func(event string, data []byte) error) error {
	body, err := r.send(ctx, http.MethodPost, name, nil, bytes.NewReader(query))
	if err != nil {
		return err
	}
	defer body.Close()
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, maxEvent)
	var event string
	var data []byte
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch {
		case lines.Text() == "" && data != nil:
			if err := on(event, data); err != nil {
				return err
			}
			event, data = "", nil
		case name == "event":
			event = value
		case name == "data":
			data = []byte(value)
		}
	}
	return errors.Join(lines.Err(), io.EOF)
}
