package setup

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"go.yaml.in/yaml/v3"
)

// TOML and YAML are changed line by line. That does not understand all that these languages can
// express: what it makes is parsed and compared, and a file in which it fails is left alone.

// linesOf returns the lines of a text, each with its line ending.
func linesOf(text []byte) []string { return slices.Collect(strings.Lines(string(text))) }

// note reports whether a line has nothing but a comment.
func note(line string) bool {
	line = strings.TrimSpace(line)
	return line == "" || line[0] == '#'
}

// written returns an entry as lines that have an indentation and a line ending.
func written(entry map[string]any, marshal func(any) ([]byte, error), indent, newline string) (string, error) {
	var b strings.Builder
	for _, name := range sorted(entry) {
		text, err := marshal(map[string]any{name: entry[name]})
		if err != nil {
			return "", err
		}
		for line := range strings.Lines(string(text)) {
			b.WriteString(indent + strings.TrimSuffix(line, "\n") + newline)
		}
	}
	return b.String(), nil
}

// ended returns a text that ends with a line ending, or is empty.
func ended(text []byte, newline string) string {
	if len(text) > 0 && text[len(text)-1] != '\n' {
		return strings.TrimRight(string(text), "\r") + newline // not half of a line ending
	}
	return string(text)
}

// tomlSyntax changes TOML. The entry is a table at the end of the file, where no other key can
// become part of it.
type tomlSyntax struct{}

func (tomlSyntax) parse(text []byte) (map[string]any, error) {
	doc := make(map[string]any)
	err := toml.Unmarshal(text, &doc)
	if d, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, column := d.Position()
		err = fmt.Errorf("line %d, column %d: %s", line, column, strings.TrimPrefix(err.Error(), "toml: "))
	}
	return doc, err
}

func (t tomlSyntax) put(text []byte, servers string, entry map[string]any) ([]byte, error) {
	newline := lineEnding(text)
	kept, _ := t.cut(text, servers)
	before := ended(kept, newline)
	if before != "" {
		before += newline
	}
	table, err := written(entry, func(v any) ([]byte, error) {
		var b bytes.Buffer
		err := toml.NewEncoder(&b).SetTablesInline(true).Encode(v)
		return b.Bytes(), err
	}, "", newline)
	return []byte(before + "[" + servers + "." + EntryName + "]" + newline + table), err
}

// tomlHeader returns the keys in the header of a table.
func tomlHeader(line string) (keys []string, ok bool) {
	line = strings.TrimSpace(line)
	if !strings.HasPrefix(line, "[") {
		return nil, false
	}
	line, rest, ok := strings.Cut(strings.TrimLeft(line, "["), "]")
	for key := range strings.SplitSeq(line, ".") {
		keys = append(keys, strings.Trim(key, " \t\"'"))
	}
	return keys, ok && note(strings.TrimLeft(rest, "]"))
}

// cut removes the tables of the entry and the empty line before them. Comments behind the last of
// their keys stay: they may be about what follows.
func (tomlSyntax) cut(text []byte, servers string) ([]byte, error) {
	var kept, notes []string // notes are comments in the entry
	inside := false
	for _, line := range linesOf(text) {
		if keys, header := tomlHeader(line); header {
			was := inside
			inside = len(keys) > 1 && keys[0] == servers && keys[1] == EntryName
			if n := len(kept); inside && !was && n > 0 && blank([]byte(kept[n-1])) {
				kept = kept[:n-1]
			}
		}
		switch {
		case inside && note(line):
			notes = append(notes, line)
		case inside:
			notes = nil
		default:
			kept, notes = append(append(kept, notes...), line), nil
		}
	}
	return []byte(strings.Join(append(kept, notes...), "")), nil
}

// yamlSyntax changes YAML that has the servers in a mapping with one key on each line. A new entry
// becomes the first one.
type yamlSyntax struct{}

func (yamlSyntax) parse(text []byte) (map[string]any, error) {
	var doc any
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	m, ok := doc.(map[string]any)
	switch {
	case doc == nil:
		return map[string]any{}, nil
	case !ok:
		return nil, errors.New("the file is not a YAML mapping")
	}
	return m, nil
}

// A yamlBlock is where the servers are in lines of YAML.
type yamlBlock struct {
	lines      []string
	servers    int    // line with the key of the servers; -1 for none
	indent     string // of their names; empty if there are none
	start, end int    // lines of the entry; equal if there is none
	others     bool   // there are other servers
}

func yamlBlockOf(text []byte, servers string) yamlBlock {
	b := yamlBlock{lines: linesOf(text)}
	is := func(line, name string) bool {
		key, _, ok := strings.Cut(line, ":")
		return ok && strings.Trim(key, " \"'") == name
	}
	b.servers = slices.IndexFunc(b.lines, func(line string) bool { return line[0] != ' ' && is(line, servers) })
	if b.servers < 0 {
		return b
	}
	inside := false
	for i, line := range b.lines[b.servers+1:] {
		i += b.servers + 1
		depth := len(line) - len(strings.TrimLeft(line, " "))
		switch {
		case note(line):
			continue
		case depth == 0 || depth < len(b.indent):
			return b
		case b.indent == "":
			b.indent = line[:depth]
		}
		if depth == len(b.indent) {
			if inside = is(line, EntryName); inside {
				b.start, b.end = i, i
			} else {
				b.others = true
			}
		}
		if inside {
			b.end = i + 1
		}
	}
	return b
}

func (y yamlSyntax) put(text []byte, servers string, entry map[string]any) ([]byte, error) {
	newline := lineEnding(text)
	b := yamlBlockOf(text, servers)
	b.lines = slices.Delete(b.lines, b.start, b.end)
	if b.servers < 0 {
		b.lines = append(linesOf([]byte(ended(text, newline))), servers+":"+newline)
		b.servers = len(b.lines) - 1
	}
	if b.indent == "" {
		b.indent = "  "
	}
	key, value, _ := strings.Cut(strings.TrimRight(b.lines[b.servers], "\r\n"), ":")
	value, comment, commented := strings.Cut(value, "#")
	switch strings.ReplaceAll(value, " ", "") {
	case "", "{}", "null", "~":
	default:
		return nil, fmt.Errorf("%q is not a mapping with one key on each line", servers)
	}
	if commented {
		comment = " #" + comment
	}
	lines, err := written(entry, yaml.Marshal, b.indent+"  ", newline)
	b.lines[b.servers] = key + ":" + comment + newline + b.indent + EntryName + ":" + newline + lines
	return []byte(strings.Join(b.lines, "")), err
}

func (y yamlSyntax) cut(text []byte, servers string) ([]byte, error) {
	b := yamlBlockOf(text, servers)
	if b.start == b.end {
		return nil, errInPlace
	}
	if !b.others { // nothing would be null
		b.lines[b.servers] = strings.Replace(b.lines[b.servers], ":", ": {}", 1)
	}
	return []byte(strings.Join(slices.Delete(b.lines, b.start, b.end), "")), nil
}
