package index

import (
	"cmp"
	"crypto/sha256"
	"slices"
	"strings"

	"github.com/sequent-dev/sequent/internal/lazyregexp"
	"github.com/sequent-dev/sequent/vault"
	"github.com/sequent-dev/sequent/vault/wikilink"
	"github.com/sequent-dev/sequent/words"
)

// A document is what the index stores of a note.
type document struct {
	info     vault.Info
	path     string
	hash     [sha256.Size]byte
	title    string
	tags     []string // normalized
	concepts []string // normalized targets of its links, in the order of their first mention
	about    []string // concepts that its title, file name or aliases name
	head     []string // title, file name, aliases and tags as they are written
	body     string   // the note without front matter
	more     []string // the other values of the front matter
}

// newDocument returns the document of a note, and an error for one that is not text.
func newDocument(n *vault.Note) (document, error) {
	d := document{info: n.Info, path: n.URI.Path(), hash: sha256.Sum256(n.Bytes())}
	n, err := n.Decoded()
	if err != nil {
		return d, err
	}
	d.body = n.Body
	name := n.URI.Name()
	front := &n.Front
	d.title = cmp.Or(strings.TrimSpace(front.Get("title")), firstHeading(n.Body), name)
	aliases := slices.Concat(front.List("aliases"), front.List("alias"))
	tags := slices.Concat(front.List("tags"), front.List("tag"))
	d.tags = normalizeTags(slices.Concat(tags, inlineTags(n.Body)))
	d.head = distinct(slices.Concat([]string{d.title, name}, aliases, tags))
	d.about = normalized(slices.Concat([]string{d.title, name}, aliases))
	for _, key := range front.Keys() {
		switch key {
		case "title", "aliases", "alias", "tags", "tag":
		default:
			d.more = append(d.more, front.List(key)...)
		}
	}
	var links []wikilink.Link
	for line := range strings.Lines(front.Text()) {
		if !strings.HasPrefix(strings.TrimSpace(line), "#") { // not a comment
			links = append(links, wikilink.InText(line)...)
		}
	}
	links = slices.DeleteFunc(links, isBackLink)
	d.concepts = wikilink.Concepts(append(links, wikilink.Parse([]byte(n.Body))...))
	return d, nil
}

// backLink matches the targets of the links between a workflow and its sessions.
var backLink = lazyregexp.New(`^(workflow|sequential)/(workflow|session)-\d`)

// isBackLink reports whether a link of front matter connects a workflow and a session.
// Its target is a note and not a concept of either.
func isBackLink(l wikilink.Link) bool { return backLink().MatchString(l.Target) }

// firstHeading returns the first heading of level 1 outside code.
func firstHeading(body string) string {
	fence := ""
	for line := range strings.Lines(body) {
		line = strings.TrimSpace(line)
		switch {
		case fence != "":
			if strings.HasPrefix(line, fence) {
				fence = ""
			}
		case strings.HasPrefix(line, "```"), strings.HasPrefix(line, "~~~"):
			fence = line[:3]
		case strings.HasPrefix(line, "# "):
			return strings.TrimSpace(strings.TrimRight(line[2:], "#"))
		}
	}
	return ""
}

// normalizeTags returns tags in the form in which they are compared: in lower
// case and without #. A text may hold several tags, separated by commas or spaces.
func normalizeTags(tags []string) []string {
	var out []string
	for _, t := range tags {
		for _, one := range strings.FieldsFunc(t, func(r rune) bool { return r == ',' || r == ' ' }) {
			if one = strings.ToLower(strings.Trim(one, "#/")); one != "" {
				out = append(out, one)
			}
		}
	}
	return distinct(out)
}

func normalized(names []string) []string {
	var out []string
	for _, n := range names {
		if n = wikilink.Normalize(n); n != "" {
			out = append(out, n)
		}
	}
	return distinct(out)
}

// distinct returns the texts that are not empty, without repetitions.
func distinct(texts []string) []string {
	var out []string
	seen := make(map[string]bool, len(texts))
	for _, s := range texts {
		if s != "" && !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

// join encodes a list for the index file. Line breaks within elements are lost.
func join(list []string) string {
	clean := make([]string, len(list))
	for i, s := range list {
		clean[i] = strings.ReplaceAll(s, "\n", " ")
	}
	return strings.Join(clean, "\n")
}

// split decodes what join has encoded.
func split(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, "\n")
}

// columns are what the table words holds of a note.
type columns struct{ head, body, headStems, bodyStems string }

// columnsOf returns the columns for the fields that the table notes holds.
func columnsOf(head, body, more string) (c columns) {
	c.head, c.headStems = tokens(split(head))
	c.body, c.bodyStems = tokens(append([]string{body}, split(more)...))
	return c
}

// tokens returns the words of parts and their stems. A paragraph sign, which is
// in no word, keeps phrases from matching across two parts.
func tokens(parts []string) (exact, stems string) {
	var e, s strings.Builder
	for i, part := range parts {
		if i > 0 {
			e.WriteString(" ¶ ")
		}
		for _, token := range words.Tokens(part) {
			e.WriteString(token)
			e.WriteByte(' ')
			if st, ok := stem(token); ok {
				s.WriteString(st)
				s.WriteByte(' ')
			}
		}
	}
	return e.String(), s.String()
}
