package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
)

// Parse parses a tool.json with the members name, title, description, inputSchema,
// outputSchema and annotations. The description can be in a separate file instead,
// a tool.md; pass nil if there is none.
//
// Parse panics if a file is invalid, because both are embedded in the program.
func Parse(spec, description []byte) Spec {
	var s Spec
	d := json.NewDecoder(bytes.NewReader(spec))
	d.DisallowUnknownFields()
	err := d.Decode(&s)
	if err == nil && d.More() {
		err = fmt.Errorf("something follows the JSON value at byte %d", d.InputOffset())
	}
	if err != nil {
		panic(fmt.Sprintf("tool: cannot read the spec: %v", err))
	}
	if s.Name == "" || len(s.InputSchema) == 0 {
		panic("tool: a spec must have a name and an inputSchema")
	}
	text := strings.TrimSpace(string(description))
	if (s.Description == "") == (text == "") {
		panic("tool: " + s.Name + " must have one description: in its spec or in a separate file")
	}
	s.Description += text // one of them is empty
	s.InputSchema, s.OutputSchema = compact(s.InputSchema), compact(s.OutputSchema)
	return s
}

// ParseFS is Parse for NAME.json and NAME.md of embedded files. The second can be missing.
func ParseFS(files fs.FS, name string) Spec {
	spec, err := fs.ReadFile(files, name+".json")
	if err != nil {
		panic("tool: " + err.Error())
	}
	text, _ := fs.ReadFile(files, name+".md")
	return Parse(spec, text)
}

// compact removes the white space between tokens. It changes no other byte.
func compact(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return nil
	}
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		panic(fmt.Sprintf("tool: %v", err)) // raw came out of a decoder
	}
	return b.Bytes()
}
