package method

import (
	"encoding/json"

	"github.com/sequent-dev/sequent/internal/jsonscan"
	"github.com/sequent-dev/sequent/mcpserver/internal/message"
)

// params reads members of a request's params. Names are case-sensitive, and of two with
// the same name the last counts. A value of the wrong type sets bad.
type params struct {
	raw json.RawMessage
	bad bool
}

// get returns the value of a member; nil if it is absent or null.
func (p *params) get(member string) json.RawMessage {
	var found json.RawMessage
	for name, value := range message.Members(p.raw) {
		if name == member {
			found = value
		}
	}
	if isNull(found) {
		return nil
	}
	return found
}

// text returns a member that is a string; empty if it is absent.
func (p *params) text(member string) string {
	raw := p.get(member)
	if raw == nil {
		return ""
	}
	text, ok := jsonscan.Text(raw)
	p.bad = p.bad || !ok
	return text
}

// object returns a member that is an object; nil if it is absent.
func (p *params) object(member string) json.RawMessage {
	raw := p.get(member)
	if raw != nil && !isObject(raw) {
		p.bad = true
		return nil
	}
	return raw
}

func isNull(raw json.RawMessage) bool   { return string(raw) == "null" }
func isObject(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '{' }

// badParams returns the error for invalid params of a method.
func badParams(r *Request) *message.Error {
	return message.InvalidParams("invalid params: they are not what %s takes", r.Method)
}

// missingParam returns the error for params without a required member.
func missingParam(name string) *message.Error {
	return message.InvalidParams("invalid params: missing required '%s' field", name)
}

// checkMeta checks the members about the client that a request of the modern era must
// have.
func checkMeta(m *message.Meta) *message.Error {
	if m.Client != nil && !isClient(m.Client) {
		return message.InvalidParams("invalid _meta field %q", message.MetaClient)
	}
	if !isCapabilities(m.Capabilities) {
		return message.InvalidParams("missing or invalid _meta field %q", message.MetaCapabilities)
	}
	return nil
}

// isClient reports whether raw can describe a client.
func isClient(raw json.RawMessage) bool {
	if !isObject(raw) {
		return false
	}
	p := params{raw: raw}
	for _, member := range []string{"name", "version", "title", "websiteUrl"} {
		p.text(member)
	}
	return !p.bad
}

// isCapabilities reports whether raw can be the capabilities of a client. Those that the
// protocol defines are objects; others can be anything.
func isCapabilities(raw json.RawMessage) bool {
	if !isObject(raw) {
		return false
	}
	p := params{raw: raw}
	for _, member := range []string{"elicitation", "experimental", "extensions", "roots", "sampling"} {
		p.object(member)
	}
	return !p.bad
}

// texts returns a member that is an array of strings; nil if it is absent.
func (p *params) texts(member string) (texts []string) {
	raw := p.get(member)
	if raw == nil {
		return nil
	}
	var items []*string
	if json.Unmarshal(raw, &items) != nil {
		p.bad = true
		return nil
	}
	for _, text := range items {
		if text == nil {
			p.bad = true
			return nil
		}
		texts = append(texts, *text)
	}
	return texts
}

// boolean checks a member that is true, false or absent.
func (p *params) boolean(member string) {
	switch string(p.get(member)) {
	case "", "true", "false":
	default:
		p.bad = true
	}
}
