package admission

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestNames checks which Host and Origin a server takes for its own. A page of another site
// whose name was made to point to the server (DNS rebinding) sends both alike.
func TestNames(t *testing.T) {
	t.Parallel()
	const evil, loopback, lan = "evil.example:8080", "127.0.0.1:8080", "192.168.1.5:8080"
	public := Config{PublicURL: "https://Think.example.com/mcp", Origins: []string{"https://chat.example.com"}}
	for _, tt := range []struct {
		cfg        Config
		at         string // the address that the request came to
		host       string
		origins    []string
		name, page bool
	}{
		{Config{}, loopback, "localhost:8080", nil, true, true},
		{Config{}, loopback, "view.localhost", nil, true, true},
		{Config{}, loopback, "[::1]:8080", []string{"http://[::1]:8080"}, true, true},
		{Config{}, loopback, evil, nil, false, true},
		{Config{}, loopback, evil, []string{"http://" + evil}, false, false},
		{Config{}, loopback, loopback, []string{"http://localhost:3000"}, true, false}, // another server of this machine
		{Config{}, loopback, loopback, []string{"null"}, true, false},
		{Config{}, loopback, loopback, []string{""}, true, false},
		{Config{}, loopback, loopback, []string{"http://" + loopback, "http://" + loopback}, true, false},
		{Config{}, loopback, loopback, []string{"http://" + loopback, "http://" + evil}, true, false},
		// Without tokens the names are the same at an address that others can reach.
		{Config{}, lan, lan, nil, true, true},
		{Config{}, lan, lan, []string{"http://" + lan}, true, true},
		{Config{}, lan, "203.0.113.7:8080", nil, true, true}, // forwarded to here
		{Config{}, lan, evil, nil, false, true},
		{Config{}, lan, evil, []string{"http://" + evil}, false, false},
		{Config{}, lan, lan, []string{"http://" + evil}, true, false},
		{Config{}, lan, lan, []string{"http://203.0.113.7:8080"}, true, false},
		{Config{}, lan, "", nil, false, true},
		// A page without a token reads nothing, so a client with one may use any name.
		{Config{Tokens: true}, lan, "nas.local:8080", nil, true, true},
		{Config{Tokens: true}, lan, evil, []string{"http://" + evil}, true, false},
		{Config{Tokens: true}, loopback, evil, nil, false, true},
		{public, loopback, "think.example.COM", []string{"https://think.example.com"}, true, true},
		{public, loopback, loopback, []string{"https://think.example.com"}, true, true}, // behind a proxy
		{public, loopback, "think.example.com", []string{"http://think.example.com"}, true, false},
		{public, loopback, "think.example.com", []string{"https://chat.example.com"}, true, true},
		{public, loopback, "chat.example.com", []string{"https://chat.example.com"}, false, true},
		{public, lan, evil, []string{"http://" + evil}, false, false},
	} {
		g, err := New(tt.cfg)
		if err != nil {
			t.Fatal(err)
		}
		address, err := net.ResolveTCPAddr("tcp", tt.at)
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequestWithContext(context.WithValue(t.Context(), http.LocalAddrContextKey, net.Addr(address)), http.MethodPost, "/mcp", nil)
		r.Host, r.Header["Origin"] = tt.host, tt.origins
		if name, page := g.OwnName(r), g.OwnPage(r); name != tt.name || page != tt.page {
			t.Errorf("%+v at %s, Host %q, Origin %q: name %t, page %t; want %t, %t", tt.cfg, tt.at, tt.host, tt.origins, name, page, tt.name, tt.page)
		}
		// What a browser says beside Origin counts only without Origin.
		if r.Header.Set("Sec-Fetch-Site", "same-origin"); g.OwnPage(r) != tt.page {
			t.Errorf("Host %q, Origin %q: Sec-Fetch-Site changes the answer", tt.host, tt.origins)
		}
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		if got := g.OwnPage(r); len(tt.origins) == 0 && got {
			t.Errorf("Host %q: a page of another site is the server's own", tt.host)
		}
	}
	for _, bad := range []Config{{PublicURL: "think.example.com"}, {PublicURL: ":"}, {Origins: []string{"example.com"}}, {Origins: []string{"https://a.example/path"}}} {
		if _, err := New(bad); err == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
}
