package mcpserver

import (
	"context"
	"encoding/json"
	"slices"
)

// A clientInfo is the description of a client.
type clientInfo struct{ Name, Version, Title, WebsiteURL string }

// capabilities are those of a client that the protocol defines. They are objects; others can
// be anything.
type capabilities struct {
	Elicitation, Experimental, Extensions, Roots, Sampling map[string]json.RawMessage
}

// objectIn decodes an object, and returns false if raw is none.
func objectIn[T any](raw json.RawMessage) (v T, ok bool) {
	if string(raw) == "{}" { // as most capabilities
		return v, true
	}
	return v, isObject(raw) && json.Unmarshal(raw, &v) == nil
}

// showsApps reports whether a client shows pages.
func (c capabilities) showsApps() bool {
	extension, ok := objectIn[struct{ MIMETypes *[]string }](c.Extensions[appsExtension])
	return ok && (extension.MIMETypes == nil || slices.Contains(*extension.MIMETypes, appMIME))
}

// showsApps reports whether the client of a request shows pages.
func (r *request) showsApps() bool {
	if r.Modern {
		return r.capabilities.showsApps()
	}
	r.conn.mu.Lock()
	defer r.conn.mu.Unlock()
	return r.conn.can.showsApps()
}

// describe reads what a request of the modern era says about its client.
func (r *request) describe() *rpcError {
	ok := true
	if r.Meta.Client != nil {
		r.client, ok = objectIn[clientInfo](r.Meta.Client)
	}
	if !ok {
		return invalidParams("invalid _meta field %q", metaClient)
	}
	if r.capabilities, ok = objectIn[capabilities](r.Meta.Capabilities); !ok {
		return invalidParams("missing or invalid _meta field %q", metaCapabilities)
	}
	return nil
}

// initialize answers the handshake. For a version that is not served, or that has no
// handshake, the answer has the newest one with a handshake.
func (s *Server) initialize(_ context.Context, r *request) (any, error) {
	p, err := decode[struct {
		ProtocolVersion string
		Capabilities    *capabilities
		ClientInfo      *clientInfo
	}](r)
	if err != nil {
		return nil, err
	}
	version := lastHandshake
	if slices.Contains(versions(), p.ProtocolVersion) {
		version = min(p.ProtocolVersion, lastHandshake)
	}
	r.conn.introduce(p.ClientInfo, p.Capabilities, version)
	s = s.of(r)
	return struct {
		Version      string          `json:"protocolVersion"`
		Capabilities json.RawMessage `json:"capabilities"`
		Server       json.RawMessage `json:"serverInfo"`
		Instructions string          `json:"instructions,omitempty"`
	}{version, s.capabilities, s.info, s.config.Dialect.Instructions}, nil
}
