package index

import (
	"crypto/sha256"
	"slices"
	"strings"

	"github.com/sequent-dev/sequent/vault"
	"github.com/sequent-dev/sequent/vault/wikilink"
)

// A document is what the index keeps of a note.
type document struct {
	info     vault.Info
	path     string
	hash     [sha256.Size]byte
	title    string
	tags     []string // normalized
	concepts []string // normalized, in the order of their first mention
	about    []string // the concepts that the note's names are
	head     []string // parts of the head field
	body     string   // the note without front matter
	more     []string // values of front matter that are no part of the head
}

func newDocument(n *vault.Note) document {
	d := document{
		info: n.Info, path: n.URI.Path(),
		hash: sha256.Sum256(n.Bytes()),
		body: n.Body,
	}
	name := n.URI.Name()
	front := &n.Front
	d.title = oneOf(strings.TrimSpace(front.Get("title")), firstHeading(n.Body), name)
	aliases := slices.Concat(front.List("aliases"), front.List("alias"))
	tags := slices.Concat(front.List("tags"), front.List("tag"))
	d.tags = normalizeTags(tags)
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
		if !strings.HasPrefix(strings.TrimSpace(line), "#") { // a comment
			links = append(links, wikilink.InText(line)...)
		}
	}
	d.concepts = wikilink.Concepts(append(links, wikilink.Parse([]byte(n.Body))...))
	return d
}

func oneOf(texts ...string) string {
	for _, s := range texts {
		if s != "" {
			return s
		}
	}
	return ""
}

// firstHeading returns the first heading of the highest level, outside code.
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

// normalizeTags returns tags as they are compared: without the mark before
// them, in lower case. One text may hold several, between commas or spaces.
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

// distinct returns the texts that are not empty, each once, in their order.
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

// In the file, lists are texts with line ends between them, which no element
// holds.
func join(list []string) string {
	clean := make([]string, len(list))
	for i, s := range list {
		clean[i] = strings.ReplaceAll(s, "\n", " ")
	}
	return strings.Join(clean, "\n")
}

func split(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, "\n")
}
