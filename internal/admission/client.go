package admission

import (
	"net/http"
	"net/netip"
	"slices"
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
	return slices.ContainsFunc(g.proxies, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// forwarded returns the address of the client for which a trusted proxy sends a request.
// X-Forwarded-For lists the addresses that the request came through. A client can write
// whatever it likes before what the proxy adds, so the last address that is not itself a
// trusted proxy counts; if something before it is no address, the one after that.
func (g *Gate) forwarded(r *http.Request, proxy netip.Addr) netip.Addr {
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	found := proxy
	for _, hop := range slices.Backward(hops) {
		addr, ok := hopAddr(strings.TrimSpace(hop))
		if !ok {
			return found
		}
		if found = addr; !g.TrustedProxy(addr) {
			return found
		}
	}
	return found
}

// hopAddr returns an address in a list of hops: 192.0.2.1, [2001:db8::1], and either with
// a port.
func hopAddr(hop string) (netip.Addr, bool) {
	if ap, err := netip.ParseAddrPort(hop); err == nil {
		return ap.Addr(), true
	}
	addr, err := netip.ParseAddr(strings.Trim(hop, "[]"))
	return addr, err == nil
}
