package mcpserver

import (
	"context"
	"encoding/json"
	"slices"
	"time"
)

// listTTL is how long a client may cache the description and the lists, which do not
// change while a server runs. After an upgrade, clients see the old ones for at most that
// long.
const listTTL = time.Hour

// cacheable are the members with the time for which a client may cache a result, and whether
// it is the same for all clients.
type cacheable struct {
	TTL   int64  `json:"ttlMs"`
	Scope string `json:"cacheScope"`
}

// cached returns the members of a description or list. Private means that other clients get
// another one.
func cached(private bool) cacheable {
	if private {
		return cacheable{listTTL.Milliseconds(), "private"}
	}
	return cacheable{listTTL.Milliseconds(), "public"}
}

// initialize answers the handshake. For a version that is not served, or that has no
// handshake, the answer has the newest one with a handshake.
func (s *Server) initialize(_ context.Context, r *request) (any, error) {
	p, err := decode[struct {
		ProtocolVersion          string
		Capabilities, ClientInfo json.RawMessage
	}](r)
	if err != nil {
		return nil, err
	}
	for _, raw := range []*json.RawMessage{&p.Capabilities, &p.ClientInfo} {
		if *raw == nil || isNull(*raw) {
			*raw = json.RawMessage("{}")
		}
	}
	can, ok := capabilitiesOf(p.Capabilities)
	client, valid := clientOf(p.ClientInfo)
	if !ok || !valid {
		return nil, badParams(r)
	}
	version := lastHandshake
	if slices.Contains(versions(), p.ProtocolVersion) {
		version = min(p.ProtocolVersion, lastHandshake)
	}
	r.conn.introduce(client, can, version)
	if s.apps != nil && can.showsApps() {
		s = s.apps
	}
	return struct {
		Version      string          `json:"protocolVersion"`
		Capabilities json.RawMessage `json:"capabilities"`
		Server       json.RawMessage `json:"serverInfo"`
		Instructions string          `json:"instructions,omitempty"`
	}{version, s.capabilities, s.info, s.dialect.Instructions}, nil
}

// discover answers server/discover.
func (s *Server) discover(context.Context, *request) (any, error) {
	return struct {
		cacheable
		Versions     []string        `json:"supportedVersions"`
		Capabilities json.RawMessage `json:"capabilities"`
		Instructions string          `json:"instructions,omitempty"`
	}{cached(s.varies), versions(), s.capabilities, s.dialect.Instructions}, nil
}

func (s *Server) ping(context.Context, *request) (any, error) { return struct{}{}, nil }
