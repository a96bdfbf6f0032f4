package streamhttp

import (
	"math"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/sequent-dev/sequent/internal/governor"
	"github.com/sequent-dev/sequent/mcpserver/internal/message"
	"github.com/sequent-dev/sequent/mcpserver/internal/method"
)

// identify makes the client with a name the one whom the limits are for.
func (v *visit) identify(name string) {
	if v.client != nil {
		v.client.Release()
	}
	v.client = v.h.governor.Subject(name)
}

// take takes n units of a resource until the visit ends. If it reports false it has
// answered.
func (v *visit) take(r governor.Resource, n int64, id []byte) bool {
	if err := v.hold(r, n); err != nil {
		v.refuseFor(err, id)
		return false
	}
	return true
}

// hold takes n units of a resource until the visit ends.
func (v *visit) hold(r governor.Resource, n int64) error {
	if err := v.client.Take(r, n); err != nil {
		return err
	}
	v.held[r] += n
	return nil
}

// drop gives back all of a resource that the visit holds.
func (v *visit) drop(r governor.Resource) {
	if n := v.held[r]; n > 0 {
		v.held[r] = 0
		v.client.Give(r, n)
	}
}

// end gives back what the visit holds.
func (v *visit) end() {
	if v.client == nil {
		return
	}
	v.dropAll()
	v.client.Release()
}

// dropAll gives back everything that the visit holds.
func (v *visit) dropAll() {
	for r := range v.held {
		v.drop(governor.Resource(r))
	}
}

// refuseFor answers that a limit is reached.
func (v *visit) refuseFor(err error, id []byte) {
	fault := method.Refused(err)
	if fault == nil { // the request was cancelled
		fault = message.ErrCancelled
	}
	v.pause(fault)
	v.fail(statusOf(true, fault), id, fault)
}

// pause delays the answer to a client that is refused again and again. It may not wait
// with anything that others need.
func (v *visit) pause(fault *message.Error) {
	if fault == nil || fault.Code != message.CodeTooMany {
		return
	}
	delay := v.client.Delay()
	if delay == 0 {
		return
	}
	v.dropAll()
	t := time.NewTimer(delay)
	defer t.Stop()
	select {
	case <-t.C:
	case <-v.r.Context().Done():
	case <-v.h.ending.Done():
	}
}

// retryAfter tells the client when to try again.
func (v *visit) retryAfter(d time.Duration) {
	if d > 0 {
		v.w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(d.Seconds()))))
	}
}

// address names the client by its network address. If the peer is a trusted proxy,
// the address is the one that the proxy reports.
func (h *Handler) address(r *http.Request) string {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return "address " + r.RemoteAddr
	}
	addr := peer.Addr()
	if h.trusted(addr) {
		addr = h.forwarded(r, addr)
	}
	return addressName(addr)
}

// addressName names a client by the part of its address that it cannot choose freely.
func addressName(addr netip.Addr) string {
	addr = addr.Unmap().WithZone("")
	if addr.Is6() && !addr.IsLoopback() {
		if p, err := addr.Prefix(64); err == nil { // what one customer has
			return "address " + p.String()
		}
	}
	return "address " + addr.String()
}

// trusted reports whether an address is that of a trusted proxy.
func (h *Handler) trusted(addr netip.Addr) bool {
	addr = addr.Unmap().WithZone("")
	for _, p := range h.proxies {
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
func (h *Handler) forwarded(r *http.Request, proxy netip.Addr) netip.Addr {
	listed, elements := r.Header.Values("X-Forwarded-For"), r.Header.Values("Forwarded")
	found := h.lastUntrusted(proxy, splitList(listed))
	if len(elements) == 0 {
		return found
	}
	hops := splitList(elements)
	for i, hop := range hops {
		hops[i] = forwardedFor(hop)
	}
	if other := h.lastUntrusted(proxy, hops); len(listed) == 0 || other == found {
		return other
	}
	return proxy
}

// lastUntrusted returns the last address of a list that is not a trusted proxy. If it
// meets something that is not an address, it returns the address after that.
func (h *Handler) lastUntrusted(proxy netip.Addr, hops []string) netip.Addr {
	found := proxy
	for i := len(hops) - 1; i >= 0; i-- {
		addr, ok := hopAddr(hops[i])
		if !ok {
			return found
		}
		if found = addr; !h.trusted(addr) {
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
