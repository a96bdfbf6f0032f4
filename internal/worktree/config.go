package worktree

import (
	"iter"
	"strings"
	"unicode"
)

// origin returns the first URL of the remote repository origin in a configuration, or "".
func origin(config string) string {
	for url := range values(config, "remote\norigin", "url") {
		return url
	}
	return ""
}

// values yields the values of a variable in a configuration that are not empty. A line feed
// separates the name of a section from that of its subsection.
func values(config, of, variable string) iter.Seq[string] {
	return func(yield func(string) bool) {
		section := ""
		for rest := config; rest != ""; {
			var text string
			text, rest = logical(rest)
			text = strings.TrimSpace(text)
			if strings.HasPrefix(text, "[") {
				section, text = header(text)
			}
			name, value, ok := strings.Cut(text, "=")
			if ok && section == of && strings.EqualFold(strings.TrimSpace(name), variable) {
				if value = unquote(value); value != "" && !yield(value) {
					return
				}
			}
		}
	}
}

// logical returns the first line of a configuration, with the lines that continue it, and
// the rest.
func logical(config string) (text, rest string) {
	for {
		part, after, more := strings.Cut(config, "\n")
		part = strings.TrimSuffix(part, "\r")
		head, continues := strings.CutSuffix(part, `\`)
		if !continues || !more || strings.HasSuffix(head, `\`) {
			return text + part, after
		}
		text += head
		config = after
	}
}

// header returns the name of the section that a line begins, with a line feed before the
// name of a subsection, and the text after the bracket.
func header(text string) (section, rest string) {
	name, sub, quoted := strings.Builder{}, strings.Builder{}, false
	to := &name
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\' && i+1 < len(text):
			i++
			to.WriteByte(text[i])
		case c == '"':
			quoted, to = !quoted, &sub
		case !quoted && c == ']':
			section = strings.ToLower(strings.TrimSpace(name.String()))
			if to == &sub {
				section += "\n" + sub.String()
			}
			return section, strings.TrimSpace(text[i+1:])
		default:
			to.WriteByte(c)
		}
	}
	return "", ""
}

// unquote returns a value without comment, quotes, escapes and the white space around it.
func unquote(text string) string {
	var b strings.Builder
	quoted := false
	end := 0 // of the text that counts
	text = strings.TrimLeftFunc(text, unicode.IsSpace)
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '"':
			quoted = !quoted
			end = b.Len()
			continue
		case !quoted && (c == '#' || c == ';'):
			return b.String()[:end]
		case c == '\\' && i+1 < len(text):
			i++
			c = text[i]
		case !quoted && (c == ' ' || c == '\t'):
			b.WriteByte(c)
			continue
		}
		b.WriteByte(c)
		end = b.Len()
	}
	return b.String()[:end]
}

// isCommand reports whether an address is an argument of a program, as in ext::COMMAND.
func isCommand(url string) bool {
	program, _, ok := strings.Cut(url, "::")
	return ok && !strings.ContainsAny(program, ":/\\@[")
}
