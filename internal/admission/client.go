package admission

import (
	"net/http"
	"net/netip"
	"strings"
)

// Address names the client of a request by its network address. If the peer is a trusted proxy,
// the address is the one that the proxy reports.
func (g *Gate) Address(r *http.Request) string {
	if addr := g.Client(r); addr.IsValid() {
		return AddressName(addr)
	}
	return "address " + r.RemoteAddr
}

// Client returns the address of the client of a request, as Address does. It is not valid if
// the peer has none.
func (g *Gate) Client(r *http.Request) netip.Addr {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	addr := peer.Addr()
	if g.TrustedProxy(addr) {
		addr = g.forwarded(r, addr)
	}
	return addr.Unmap().WithZone("")
}

// AddressName names a client by the part of its address that it cannot choose freely.
func AddressName(addr netip.Addr) string {
	addr = addr.Unmap().WithZone("")
	if addr.Is6() && !addr.IsLoopback() {
		if p, err := addr.Prefix(64); err == nil { // what one customer has
			return "address " + p.String()
		}
	}
	return "address " + addr.String()
}

// TrustedProxy reports whether an address is that of a trusted proxy.
func (g *Gate) TrustedProxy(addr netip.Addr) bool {
	addr = addr.Unmap().WithZone("")
	for _, p := range g.proxies {
		if p.Contains(addr) {
			return true
		}
	}
	return false
}

// forwarded returns the address of the client for which a trusted proxy sends a
// request. X-Forwarded-For and Forwarded (RFC 7239) list the addresses that the
// request came through. A client can write whatever it likes before what the proxy
// adds, so the last address that is not itself a trusted proxy counts. If both
// headers are there and differ, one of them is the client's own; then the address is
// that of the proxy.
func (g *Gate) forwarded(r *http.Request, proxy netip.Addr) netip.Addr {
	listed, elements := r.Header.Values("X-Forwarded-For"), r.Header.Values("Forwarded")
	found := g.lastUntrusted(proxy, splitList(listed))
	if len(elements) == 0 {
		return found
	}
	hops := splitList(elements)
	for i, hop := range hops {
		hops[i] = forwardedFor(hop)
	}
	if other := g.lastUntrusted(proxy, hops); len(listed) == 0 || other == found {
		return other
	}
	return proxy
}

// lastUntrusted returns the last address of a list that is not a trusted proxy. If it
// meets something that is not an address, it returns the address after that.
func (g *Gate) lastUntrusted(proxy netip.Addr, hops []string) netip.Addr {
	found := proxy
	for i := len(hops) - 1; i >= 0; i-- {
		addr, ok := hopAddr(hops[i])
		if !ok {
			return found
		}
		if found = addr; !g.TrustedProxy(addr) {
			return found
		}
	}
	return found
}

// splitList returns the elements of a header that is a list.
func splitList(values []string) []string {
	if len(values) == 0 {
		return nil
	}
	return strings.Split(strings.Join(values, ","), ",")
}

// forwardedFor returns the parameter "for" of an element of Forwarded.
func forwardedFor(element string) string {
	for pair := range strings.SplitSeq(element, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(pair), "=")
		if strings.EqualFold(name, "for") {
			return strings.Trim(value, `"`)
		}
	}
	return ""
}

// hopAddr returns the address in a list of hops: 192.0.2.1, [2001:db8::1], and either
// with a port.
func hopAddr(hop string) (netip.Addr, bool) {
	hop = strings.TrimSpace(hop)
	if ap, err := netip.ParseAddrPort(hop); err == nil {
		return ap.Addr(), true
	}
	addr, err := netip.ParseAddr(strings.Trim(hop, "[]"))
	return addr, err == nil
}
