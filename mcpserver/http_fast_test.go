package mcpserver

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// exchanged posts bodies to a server with the notebook's tools and returns what
// came back, headers included.
func exchanged(t *testing.T, sdkOnly bool, header http.Header, bodies ...string) (out []string) {
	t.Helper()
	h, err := NewHTTP(HTTPConfig{Servers: []*Server{comparing(sdkOnly)}, Rate: -1})
	if err != nil {
		t.Fatal(err)
	}
	for _, body := range bodies {
		r := httptest.NewRequest(http.MethodPost, "/mcp?scope=s", strings.NewReader(body))
		r.Header = maps.Clone(header)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		got := fmt.Sprintln(w.Code, w.Header()) + w.Body.String()
		out = append(out, someFault.ReplaceAllString(got, "internal error (id)"))
	}
	return out
}

// compareHTTP gives both paths the same requests and compares all of what comes.
func compareHTTP(t *testing.T, header http.Header, bodies ...string) {
	t.Helper()
	fast, sdk := exchanged(t, false, header, bodies...), exchanged(t, true, header, bodies...)
	for i := range bodies {
		if fast[i] != sdk[i] {
			t.Fatalf("reply %d is\n%.700q\nwith the SDK\n%.700q\nto %.600q with %v", i, fast[i], sdk[i], bodies[i], header)
		}
	}
}

// plainHeader is what a client sends with a call of a tool.
func plainHeader(name, accept string) http.Header {
	return http.Header{
		"Content-Type": {"application/json"}, "Accept": {accept},
		headerVersion: {firstModern}, headerMethod: {methodCallTool}, headerName: {name},
	}
}

const bothMedia = "application/json, text/event-stream"

// toolIn returns the tool that a request seems to name.
func toolIn(body string) string {
	e := parse([]byte(body))
	name, _ := subjectOf(&e)
	return name
}

func TestFastHTTPRepliesAsTheSDK(t *testing.T) {
	t.Parallel()
	for i, line := range oddCalls() {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			for _, meta := range []string{metaModern, metaOther, ""} {
				body := line
				if meta != "" {
					body = strings.Replace(line, `"params":{`, `"params":{`+meta+`,`, 1)
					body = strings.Replace(body, ",}", "}", 1)
				}
				first := callWith("1", metaModern+`,"name":"args"`)
				compareHTTP(t, plainHeader(toolIn(body), bothMedia), first, body, body, first)
				if i%10 > 0 {
					continue
				}
				compareHTTP(t, plainHeader("other", bothMedia), first, body)
				for _, accept := range []string{"application/json", "text/event-stream", "text/plain"} {
					compareHTTP(t, plainHeader(toolIn(body), accept), first, body, body)
				}
			}
		})
	}
}

// The table must not compare the SDK with itself.
func TestFastHTTPIsTaken(t *testing.T) {
	t.Parallel()
	plain := callWith("1", metaModern+`,"name":"args","arguments":{"text":"a"}`)
	for _, tt := range []struct {
		line, judged, accept string
		fast                 bool
	}{
		{plain, plain, bothMedia, true},
		{plain, plain, "application/json", true},
		{plain, plain, "text/event-stream", false},
		{plain, "", bothMedia, false},
		{plain, callWith("1", metaOther+`,"name":"args"`), bothMedia, false},
		{strings.Replace(plain, `"_meta":{`, `"_meta":{"progressToken":1,`, 1), plain, bothMedia, false},
		{strings.Replace(plain, `"args"`, `"none"`, 1), plain, bothMedia, false},
	} {
		s := comparing(false)
		h, err := NewHTTP(HTTPConfig{Servers: []*Server{s}, Rate: -1})
		if err != nil {
			t.Fatal(err)
		}
		v := &visit{h: h, server: s, r: httptest.NewRequest(http.MethodPost, "/mcp", nil)}
		v.r.Header.Set("Accept", tt.accept)
		if tt.judged != "" {
			r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(tt.judged))
			r.Header = plainHeader("args", bothMedia)
			w := httptest.NewRecorder()
			if h.ServeHTTP(w, r); w.Code != http.StatusOK {
				t.Fatal(w.Code, w.Body)
			}
		}
		var e envelope
		var p plainCall
		glance([]byte(tt.line), &e, &p)
		if got := v.tool(&p) != nil; got != tt.fast {
			t.Errorf("fast = %t, want %t, for %s after %q with Accept %s", got, tt.fast, tt.line, tt.judged, tt.accept)
		}
	}
}

// What is remembered of clients is bounded, whatever they say.
func TestClientsAreForgotten(t *testing.T) {
	t.Parallel()
	var j jury
	for i := range 10 * maxJudged {
		p := plainCall{capabilities: fmt.Appendf(nil, `{"n":%d}`, i), client: []byte(`{}`)}
		j.accept(&p)
		if !j.accepts(&p) || len(j.known) > maxJudged {
			t.Fatalf("after %d clients %d are known, the last one among them: %t", i+1, len(j.known), j.accepts(&p))
		}
	}
	large := plainCall{capabilities: []byte(`{"n":"` + strings.Repeat("x", maxJudgedBytes) + `"}`)}
	if j.accept(&large); j.accepts(&large) {
		t.Error("a large client is remembered")
	}
}

// A call that is answered without the SDK ends with its request, too.
func TestFastHTTPIsCancelled(t *testing.T) {
	t.Parallel()
	w := serveHTTP(t, HTTPConfig{})
	w.want(modernCall("/mcp", "args", "a"), http.StatusOK) // so that the client is known
	var p plainCall
	p.capabilities = []byte(`{}`)
	if !w.http.servers["/mcp"].clients.accepts(&p) {
		t.Fatal("the client is not known, so that the call would go the other way")
	}
	res := make(chan error, 1)
	req := w.request(modernCall("/mcp", "wait", "b"))
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, err := http.DefaultClient.Do(req.WithContext(ctx))
		res <- err
	}()
	<-w.note.begun
	cancel()
	if err := <-w.note.ended; err == nil {
		t.Error("the call went on")
	}
	if err := <-res; err == nil {
		t.Error("there was a reply")
	}
}

// FuzzFastHTTP does what the table does with any body.
func FuzzFastHTTP(f *testing.F) {
	for _, line := range oddCalls() {
		f.Add([]byte(strings.Replace(line, `"params":{`, `"params":{`+metaModern+`,`, 1)))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if len(body) > 1<<16 || strings.Contains(string(body), "listen") {
			return
		}
		first := callWith("1", metaModern+`,"name":"args"`)
		compareHTTP(t, plainHeader(toolIn(string(body)), bothMedia), first, string(body), string(body))
	})
}
