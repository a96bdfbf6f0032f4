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

// What to do about a request whose Host or Origin is refused.
const (
	HostFix   = "use an address or localhost, or start the server with --public-url and the URL that clients use"
	OriginFix = "start the server with --public-url and the URL of its own pages, or with --allow-origin for those of another site"
)

// A Config says what a Gate admits.
type Config struct {
	PublicURL string         // at which clients reach the server, such as https://think.example.com; empty for none
	Origins   []string       // of other web pages that may call
	Proxies   []netip.Prefix // networks whose headers tell the addresses of clients
	// Tokens says that requests need a token. Then any Host is admitted at an address that
	// other machines can reach: a page whose name was made to point here has no token.
	Tokens bool
}

// A Gate has the rules of one server. It is safe for concurrent use. The zero Gate is that of a server
// of this machine, without a public URL.
type Gate struct {
	origins map[string]bool
	name    string         // of the public URL, without port; empty for none
	proxies []netip.Prefix // trusted
	tokens  bool
}

// New returns a Gate. The error is that of an invalid URL or origin.
func New(cfg Config) (*Gate, error) {
	g := &Gate{origins: make(map[string]bool), proxies: cfg.Proxies, tokens: cfg.Tokens}
	origins := cfg.Origins
	if cfg.PublicURL != "" {
		u, err := url.Parse(cfg.PublicURL)
		if err != nil || u.Hostname() == "" {
			return nil, fmt.Errorf("%q is not a URL like https://example.com", cfg.PublicURL)
		}
		g.name = strings.ToLower(u.Hostname())
		origins = append([]string{u.Scheme + "://" + strings.ToLower(u.Host)}, origins...)
	}
	for _, origin := range origins {
		if err := http.NewCrossOriginProtection().AddTrustedOrigin(origin); err != nil {
			return nil, fmt.Errorf("%q is not an origin like https://example.com: %w", origin, err)
		}
		g.origins[origin] = true
	}
	return g, nil
}

// OwnName reports whether a request names this server as its host. The names are those of
// this machine and that of the public URL. A page of another site, whose name was made to
// point here, sends that name. An address cannot be made to point elsewhere, so any is good.
func (g *Gate) OwnName(r *http.Request) bool {
	return numbered(r.Host) || g.name != "" && hostOf(r.Host) == g.name || g.tokens && exposed(r)
}

// exposed reports whether a request came to an address that other machines can reach.
func exposed(r *http.Request) bool {
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return local != nil && !LocalName(hostOf(local.String()))
}

// numbered reports whether a host is a name of this machine or an address.
func numbered(hostport string) bool {
	host := hostOf(hostport)
	_, err := netip.ParseAddr(host)
	return err == nil || LocalName(host)
}

// OwnPage reports whether a request was sent by no web page, by one of the server's own,
// or by one of a trusted origin. Reading is as private as writing. What Host says does not
// make a page the server's own: see OwnName.
func (g *Gate) OwnPage(r *http.Request) bool {
	switch origins := r.Header.Values("Origin"); len(origins) {
	case 0:
		site := r.Header.Get("Sec-Fetch-Site")
		return site == "" || site == "none" || site == "same-origin"
	case 1:
		_, host, _ := strings.Cut(origins[0], "://")
		return g.origins[origins[0]] || strings.EqualFold(host, r.Host) && numbered(host)
	}
	return false
}

// Trusts reports whether an origin is that of the public URL or was given to [New].
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

// LocalName reports whether a host is this machine, by its name alone.
func LocalName(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(strings.Trim(host, "[]")), ".")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}
