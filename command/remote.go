package command

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/sequent-dev/sequent/web"
)

// A remote is a server with the API of the viewer.
type remote struct {
	base   *url.URL // of the server, without a path
	token  string   // empty for none
	client *http.Client
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
	ip := net.ParseIP(u.Hostname())
	if token != "" && u.Scheme == "http" && u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, &usageError{msg: "a token would cross the network unencrypted to " + u.Host, fix: "use a URL with https"}
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }} // the token is for this server
	return &remote{base: &url.URL{Scheme: u.Scheme, Host: u.Host}, token: token, client: client}, nil
}

// A remoteError is what a server refuses.
type remoteError struct {
	status int
	web.Refusal
}

func (e *remoteError) Error() string { return "the server says: " + e.Message }

// open sends a GET request to the API.
func (r *remote) open(ctx context.Context, name string, query url.Values, last string) (io.ReadCloser, error) {
	u := r.base.JoinPath(web.APIPrefix, "v1", name)
	u.RawQuery = query.Encode()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	if r.token != "" {
		request.Header.Set("Authorization", "Bearer "+r.token)
	}
	if last != "" {
		request.Header.Set("Last-Event-ID", last)
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
	return nil, &remoteError{reply.StatusCode, *refused.Error}
}

// get reads a document.
func (r *remote) get(ctx context.Context, name string, query url.Values, into any) error {
	body, err := r.open(ctx, name, query, "")
	if err != nil {
		return err
	}
	defer body.Close()
	if err := json.NewDecoder(body).Decode(into); err != nil {
		return fmt.Errorf("the server's reply to %s cannot be read: %w", name, err)
	}
	return nil
}

// maxEvent limits the size of an event in bytes.
const maxEvent = 8 << 20

// events reads the events of one connection, until it ends or on returns an error.
func (r *remote) events(ctx context.Context, query url.Values, last string, on func(event, id string, data []byte) error) error {
	body, err := r.open(ctx, "events", query, last)
	if err != nil {
		return err
	}
	defer body.Close()
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, maxEvent)
	var event, id string
	var data []byte
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch {
		case lines.Text() == "" && data != nil:
			if err := on(event, id, data); err != nil {
				return err
			}
			event, id, data = "", "", nil
		case name == "event":
			event = value
		case name == "id":
			id = value
		case name == "data":
			data = []byte(value)
		}
	}
	return errors.Join(lines.Err(), io.EOF)
}
