package mcpserver

import (
	"encoding/json"
	"slices"

	"github.com/sequent-dev/sequent/internal/jsonscan"
)

// decode decodes the params of a request. Members of the wrong type are invalid params.
func decode[P any](r *request) (p P, err error) {
	if r.Params != nil && json.Unmarshal(r.Params, &p) != nil {
		return p, badParams(r)
	}
	return p, nil
}

// text returns a JSON string, or "".
func text(raw json.RawMessage) string {
	s, _ := jsonscan.Text(raw)
	return string(s)
}

// badParams returns the error for invalid params of a method.
func badParams(r *request) *rpcError {
	return invalidParams("invalid params: they are not what %s takes", r.Method)
}

// missingParam returns the error for params without a required member.
func missingParam(name string) *rpcError {
	return invalidParams("invalid params: missing required '%s' field", name)
}

// A clientInfo is the description of a client.
type clientInfo struct {
	Name       string `json:"name"`
	Version    string `json:"version"`
	Title      string `json:"title"`
	WebsiteURL string `json:"websiteUrl"`
}

// clientOf returns the description of a client, and false if raw is none.
func clientOf(raw json.RawMessage) (c clientInfo, ok bool) {
	return c, isObject(raw) && json.Unmarshal(raw, &c) == nil
}

// capabilities are those of a client that the protocol defines. They are objects; others can
// be anything.
type capabilities struct {
	Elicitation, Experimental, Extensions, Roots, Sampling map[string]json.RawMessage
}

// capabilitiesOf returns the capabilities of a client, and false if raw has none.
func capabilitiesOf(raw json.RawMessage) (c capabilities, ok bool) {
	if string(raw) == "{}" { // of most clients
		return c, true
	}
	return c, isObject(raw) && json.Unmarshal(raw, &c) == nil
}

// showsApps reports whether a client shows pages.
func (c capabilities) showsApps() bool {
	var extension struct{ MIMETypes *[]string }
	raw := c.Extensions[appsExtension]
	if !isObject(raw) || json.Unmarshal(raw, &extension) != nil {
		return false
	}
	return extension.MIMETypes == nil || slices.Contains(*extension.MIMETypes, appMIME)
}

// describe reads what a request of the modern era says about its client.
func (r *request) describe() *rpcError {
	ok := true
	if r.Meta.Client != nil {
		r.client, ok = clientOf(r.Meta.Client)
	}
	if !ok {
		return invalidParams("invalid _meta field %q", metaClient)
	}
	if r.capabilities, ok = capabilitiesOf(r.Meta.Capabilities); !ok {
		return invalidParams("missing or invalid _meta field %q", metaCapabilities)
	}
	return nil
}
