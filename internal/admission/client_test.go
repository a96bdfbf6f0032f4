package admission

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
)

// TestForwarded checks whom a request is counted for that came through proxies.
func TestForwarded(t *testing.T) {
	t.Parallel()
	g, err := New(Config{Proxies: []netip.Prefix{
		netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8:1::/48"),
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		from           string
		xff, forwarded []string
		want           string
	}{
		{"192.0.2.1:5", nil, nil, "address 192.0.2.1"},
		{"[::1]:5", nil, nil, "address ::1"},
		{"[::ffff:192.0.2.1]:5", nil, nil, "address 192.0.2.1"},
		{"[2001:db8:2:3::4]:5", nil, nil, "address 2001:db8:2:3::/64"},
		{"pipe", nil, nil, "address pipe"},
		// Anybody can send the headers.
		{"192.0.2.1:5", []string{"192.0.2.9"}, []string{"for=192.0.2.9"}, "address 192.0.2.1"},
		{"10.0.0.1:5", nil, nil, "address 10.0.0.1"},
		{"10.0.0.1:5", []string{"192.0.2.9"}, nil, "address 192.0.2.9"},
		{"[::ffff:10.0.0.1]:5", []string{"192.0.2.9"}, nil, "address 192.0.2.9"},
		{"[2001:db8:1::1]:5", []string{"2001:db8:2:3::4"}, nil, "address 2001:db8:2:3::/64"},
		{"10.0.0.1:5", []string{"[2001:db8:2:3::4]:77"}, nil, "address 2001:db8:2:3::/64"},
		{"10.0.0.1:5", []string{"192.0.2.9:77"}, nil, "address 192.0.2.9"},
		// What a client writes stands before what its proxy adds.
		{"10.0.0.1:5", []string{"198.51.100.7, 192.0.2.9"}, nil, "address 192.0.2.9"},
		{"10.0.0.1:5", []string{"198.51.100.7", "192.0.2.9, 10.0.0.2"}, nil, "address 192.0.2.9"},
		{"10.0.0.1:5", []string{"10.0.0.3, 10.0.0.2"}, nil, "address 10.0.0.3"},
		{"10.0.0.1:5", []string{"192.0.2.9, nonsense, 10.0.0.2"}, nil, "address 10.0.0.2"},
		{"10.0.0.1:5", []string{"192.0.2.9, nonsense"}, nil, "address 10.0.0.1"},
		{"10.0.0.1:5", []string{""}, nil, "address 10.0.0.1"},
		{"10.0.0.1:5", []string{"192.0.2.9"}, []string{"for=198.51.100.7"}, "address 192.0.2.9"}, // which is not read
	} {
		r := httptest.NewRequest(http.MethodPost, "/mcp", nil)
		r.RemoteAddr = c.from
		r.Header["X-Forwarded-For"], r.Header["Forwarded"] = c.xff, c.forwarded
		if got := g.Address(r); got != c.want {
			t.Errorf("from %s, X-Forwarded-For %q, Forwarded %q: %s, want %s", c.from, c.xff, c.forwarded, got, c.want)
		}
	}
}
