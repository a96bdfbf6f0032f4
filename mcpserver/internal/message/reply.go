package message

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// OpenResult appends the beginning of a reply, up to the members of its result.
func OpenResult(line []byte, id json.RawMessage) []byte {
	line = append(line, `{"jsonrpc":"2.0","id":`...)
	line = append(line, id...)
	return append(line, `,"result":{`...)
}

// CloseResult appends the end of a reply after the last member of its result.
func CloseResult(line []byte) []byte { return append(line, "}}\n"...) }

// AppendName appends the name of a member, after a comma if it is not the first. The name
// must need no escapes.
func AppendName(object []byte, name string) []byte {
	if object[len(object)-1] != '{' {
		object = append(object, ',')
	}
	object = append(object, '"')
	object = append(object, name...)
	return append(object, `":`...)
}

// AppendError appends an error reply. Its id is null if the id is unknown.
func AppendError(line []byte, id json.RawMessage, e *Error) []byte {
	if id == nil {
		id = json.RawMessage("null")
	}
	line = append(line, `{"jsonrpc":"2.0","id":`...)
	line = append(line, id...)
	line = append(line, `,"error":`...)
	body, err := Marshal(e)
	if err != nil || !utf8.Valid(body) { // only the data can be invalid
		body, _ = Marshal(&Error{Code: e.Code, Message: e.Message})
	}
	line = append(line, body...)
	return append(line, "}\n"...)
}

// OpenNotification appends the beginning of a notification, up to the members of its
// params.
func OpenNotification(line []byte, method string) []byte {
	line = append(line, `{"jsonrpc":"2.0","method":"`...)
	line = append(line, method...)
	return append(line, `","params":{`...)
}

// CloseNotification appends the end of a notification.
func CloseNotification(line []byte) []byte { return append(line, "}}\n"...) }

// Marshal is json.Marshal without escapes for HTML.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// AppendQuoted appends a string in the form of encoding/json without escapes for HTML.
func AppendQuoted(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		n := 1
		if c >= utf8.RuneSelf {
			var r rune
			r, n = utf8.DecodeRuneInString(s[i:])
			if (r != utf8.RuneError || n != 1) && r != '\u2028' && r != '\u2029' {
				i += n
				continue
			}
		}
		b = append(b, s[start:i]...)
		b = appendEscape(b, s[i:i+n])
		i += n
		start = i
	}
	b = append(b, s[start:]...)
	return append(b, '"')
}

// appendEscape appends the escape of a character that a string cannot contain.
func appendEscape(b []byte, char string) []byte {
	const digits = "0123456789abcdef"
	switch c := char[0]; c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\b':
		return append(b, `\b`...)
	case '\f':
		return append(b, `\f`...)
	case '\n':
		return append(b, `\n`...)
	case '\r':
		return append(b, `\r`...)
	case '\t':
		return append(b, `\t`...)
	default:
		switch {
		case c < ' ':
			return append(b, '\\', 'u', '0', '0', digits[c>>4], digits[c&0xf])
		case len(char) == 3: // a line or paragraph separator
			return append(b, '\\', 'u', '2', '0', '2', digits[char[2]&0xf])
		}
		return append(b, `\ufffd`...) // an invalid byte
	}
}
