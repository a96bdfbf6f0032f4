// Package admission decides which HTTP requests a server looks at: those that are sent
// to a name of its own, and from a page that may call it. It also tells clients apart
// by their addresses. Every handler of a server shares one [Gate].
package admission

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// headerFetchSite is a header with which browsers say who sends a request.
const headerFetchSite = "Sec-Fetch-Site"

// A Gate has the rules of one server. It is safe for concurrent use.
type Gate struct {
	cors    *http.CrossOriginProtection
	origins map[string]bool
	hosts   map[string]bool // of origins, without port
	proxies []netip.Prefix  // trusted
}

// New returns a Gate that trusts web pages of the given origins, such as
// https://think.example.com, besides the server's own pages. The names of their hosts
// are also names of the server. The proxies are the networks whose headers tell the
// addresses of clients. The error is that of an invalid origin.
func New(origins []string, proxies []netip.Prefix) (*Gate, error) {
	g := &Gate{
		cors: http.NewCrossOriginProtection(), origins: make(map[string]bool), hosts: make(map[string]bool), proxies: proxies,
	}
	for _, origin := range origins {
		u, err := url.Parse(origin)
		if err == nil {
			err = g.cors.AddTrustedOrigin(origin)
		}
		if err != nil {
			return nil, fmt.Errorf("%q is not an origin like https://example.com: %w", origin, err)
		}
		g.origins[origin] = true
		g.hosts[strings.ToLower(u.Hostname())] = true
	}
	return g, nil
}

// OwnName reports whether a request names this server as its host. A server on a
// loopback address is otherwise asked for by a page of another site, whose name was
// made to point here.
func (g *Gate) OwnName(r *http.Request) bool {
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return local == nil || !localHost(local.String()) || localHost(r.Host) || g.hosts[hostOf(r.Host)]
}

// OwnPage reports whether a request was sent by no web page, by one of the server's own,
// or by one of a trusted origin. Reading is as private as writing.
func (g *Gate) OwnPage(r *http.Request) bool {
	check := *r
	check.Method = http.MethodPost
	if r.Header.Get("Origin") != "" && check.Header.Get(headerFetchSite) == "none" {
		// A request that no page made has no Origin. The pair is a contradiction,
		// so the Origin is checked as if there were only that.
		check.Header = check.Header.Clone()
		check.Header.Del(headerFetchSite)
	}
	return g.cors.Check(&check) == nil
}

// Trusts reports whether an origin was given to [New].
func (g *Gate) Trusts(origin string) bool { return g.origins[origin] }

// Bearer returns the token of a request (RFC 6750), or "" without one. Two headers are as none.
func Bearer(r *http.Request) string {
	values := r.Header.Values("Authorization")
	if len(values) != 1 {
		return ""
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// hostOf returns the name of a host that may have a port.
func hostOf(hostport string) string {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = hostport
	}
	return strings.ToLower(strings.Trim(host, "[]"))
}

func localHost(hostport string) bool { return LocalName(hostOf(hostport)) }

// LocalName reports whether a host is this machine, by its name alone.
func LocalName(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(strings.Trim(host, "[]")), ".")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}
