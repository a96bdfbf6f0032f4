package method

import (
	"context"

	"github.com/sequent-dev/sequent/mcpserver/internal/message"
)

// initialize answers the handshake. For a version that is not served, or that has no
// handshake, the answer has the newest one with a handshake.
func (s *Server) initialize(_ context.Context, r *Request, result []byte) ([]byte, error) {
	p := params{raw: r.Params}
	version := p.text("protocolVersion")
	capabilities, client := p.object("capabilities"), p.object("clientInfo")
	switch {
	case p.bad, capabilities != nil && !isCapabilities(capabilities), client != nil && !isClient(client):
		return nil, badParams(r)
	}
	version = negotiate(version)
	r.Peer.introduce(client, capabilities, version)
	if s.apps != nil && showsApps(capabilities) {
		s = s.apps
	}
	result = message.AppendName(result, "protocolVersion")
	result = message.AppendQuoted(result, version)
	result = message.AppendName(result, "capabilities")
	result = append(result, s.capabilities...)
	result = message.AppendName(result, "serverInfo")
	result = append(result, s.info...)
	return s.appendInstructions(result), nil
}

// negotiate returns the version of the connection after a handshake.
func negotiate(asked string) string {
	for _, v := range message.Versions() {
		if v == asked && v <= message.LastHandshake {
			return v
		}
	}
	return message.LastHandshake
}

// discover answers server/discover.
func (s *Server) discover(_ context.Context, _ *Request, result []byte) ([]byte, error) {
	result = appendMembers(result, cacheable(s.varies))
	result = message.AppendName(result, "supportedVersions")
	result = append(result, mustMarshal(message.Versions())...)
	result = message.AppendName(result, "capabilities")
	result = append(result, s.capabilities...)
	return s.appendInstructions(result), nil
}

func (s *Server) appendInstructions(result []byte) []byte {
	if s.instructions == nil {
		return result
	}
	result = message.AppendName(result, "instructions")
	return append(result, s.instructions...)
}

func (s *Server) ping(_ context.Context, _ *Request, result []byte) ([]byte, error) {
	return result, nil
}
