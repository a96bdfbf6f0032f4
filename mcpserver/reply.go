package mcpserver

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// marshal is json.Marshal without escapes for HTML.
func marshal(v any) ([]byte, error) { return appendJSON(nil, v) }

// appendJSON appends a value without escapes for HTML.
func appendJSON(b []byte, v any) ([]byte, error) {
	buf := bytes.NewBuffer(b)
	e := json.NewEncoder(buf)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// mustMarshal encodes a value that can always be encoded.
func mustMarshal(v any) []byte {
	b, err := marshal(v)
	if err != nil {
		panic("mcpserver: " + err.Error())
	}
	return b
}

// openReply appends the beginning of a reply, up to the value of its result or error.
func openReply(line []byte, id json.RawMessage, member string) []byte {
	line = append(line, `{"jsonrpc":"2.0","id":`...)
	line = append(line, id...)
	return append(append(append(line, `,"`...), member...), `":`...)
}

// appendResult appends the reply with a result, which is encoded as a JSON object. Results of
// the modern era begin with the server, further members of _meta, and the mark of a complete
// result.
func (s *Server) appendResult(line []byte, r *request, meta []byte, result any) ([]byte, error) {
	line = openReply(line, r.ID, "result")
	if r.Modern {
		line = append(append(line, `{"_meta":{"`+metaServer+`":`...), s.info...)
		if meta != nil {
			line = append(append(line, ','), meta...)
		}
		line = append(line, `},"resultType":"complete",`...)
	}
	at := len(line)
	line, err := appendJSON(line, result)
	if err != nil {
		return nil, err
	}
	switch {
	case !r.Modern:
	case len(line) == at+len("{}"):
		line = append(line[:at-1], '}')
	default: // the object has begun already
		line = append(line[:at], line[at+1:]...)
	}
	return append(line, "}\n"...), nil
}

// appendError appends an error reply. Its id is null if the id is unknown.
func appendError(line []byte, id json.RawMessage, e *rpcError) []byte {
	if id == nil {
		id = json.RawMessage("null")
	}
	line = openReply(line, id, "error")
	body, err := marshal(e)
	if err != nil || !utf8.Valid(body) { // only the data can be invalid
		body, _ = marshal(&rpcError{Code: e.Code, Message: e.Message})
	}
	return append(append(line, body...), "}\n"...)
}

// notification returns a notification, a line.
func notification(method string, params any) []byte {
	return append(mustMarshal(struct {
		Version string `json:"jsonrpc"`
		Method  string `json:"method"`
		Params  any    `json:"params"`
	}{"2.0", method, params}), '\n')
}
