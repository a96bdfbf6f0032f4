package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Parse reads a Spec from a tool.json, whose members are name, title,
// description, inputSchema, outputSchema and annotations. The description may
// stand in a file of its own instead (a tool.md), where prose is easier to read;
// pass nil if there is none.
//
// Both files are embedded in the program, so a fault in them is a programmer's:
// Parse panics.
func Parse(spec, description []byte) Spec {
	var file struct {
		Name         string          `json:"name"`
		Title        string          `json:"title"`
		Description  string          `json:"description"`
		InputSchema  json.RawMessage `json:"inputSchema"`
		OutputSchema json.RawMessage `json:"outputSchema"`
		Annotations  Annotations     `json:"annotations"`
	}
	if err := unmarshalStrict(spec, &file); err != nil {
		panic(fmt.Sprintf("tool: cannot read the spec: %v", err))
	}
	if file.Name == "" || len(file.InputSchema) == 0 {
		panic("tool: a spec needs a name and an inputSchema")
	}
	text := strings.TrimSpace(string(description))
	if (file.Description == "") == (text == "") {
		panic("tool: " + file.Name + " needs one description: in its spec or beside it")
	}
	return Spec{
		Name:         file.Name,
		Title:        file.Title,
		Description:  file.Description + text, // one of them is empty
		InputSchema:  compact(file.InputSchema),
		OutputSchema: compact(file.OutputSchema),
		Annotations:  file.Annotations,
	}
}

// compact removes the white space between the tokens of valid JSON and keeps
// every other byte.
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

// unmarshalStrict is json.Unmarshal that refuses fields which v does not have.
func unmarshalStrict(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if d.More() {
		return fmt.Errorf("something follows the JSON value at byte %d", d.InputOffset())
	}
	return nil
}
