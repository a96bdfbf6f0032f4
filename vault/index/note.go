package index

import (
	"cmp"
	"crypto/sha256"
	"slices"
	"strings"
	"unicode"

	"github.com/sequent-dev/sequent/internal/lazyregexp"
	"github.com/sequent-dev/sequent/textsearch"
	"github.com/sequent-dev/sequent/vault"
	"github.com/sequent-dev/sequent/vault/wikilink"
)

// A document is what the index stores of a note.
type document struct {
	info       vault.Info
	err        error // why it is not in the index
	hash       [sha256.Size]byte
	title      string
	tags       []string // normalized
	links      []string // concepts, in the order of their first mention
	names      []string // concepts that its title, file name or aliases name
	head, body string   // words
	text       string   // without front matter
}

// newDocument returns the document of a note. The error says why the note is not indexed.
func newDocument(n *vault.Note) (document, error) {
	d := document{info: n.Info, hash: sha256.Sum256(n.Bytes())}
	front, name := &n.Front, n.URI.Name()
	tags := slices.Concat(front.List("tags"), front.List("tag"))
	inline, heading := scan(n.Body)
	d.text = n.Body
	d.title = cmp.Or(strings.TrimSpace(front.Get("title")), heading, name)
	names := slices.Concat([]string{d.title, name}, front.List("aliases"), front.List("alias"))
	d.tags = normalizeTags(slices.Concat(tags, inline))
	d.names = distinct(names, wikilink.Normalize)
	d.head = words(distinct(slices.Concat(names, tags), strings.TrimSpace))
	text := []string{n.Body}
	for _, key := range front.Keys() {
		if !slices.Contains([]string{"title", "aliases", "alias", "tags", "tag"}, key) {
			text = append(text, front.List(key)...)
		}
	}
	d.body = words(text)
	var links []wikilink.Link
	for line := range strings.Lines(front.Text()) {
		if !strings.HasPrefix(strings.TrimSpace(line), "#") { // not a comment
			links = append(links, wikilink.InText(line)...)
		}
	}
	// A link between a workflow and a session leads to a note, and is no concept of either.
	links = slices.DeleteFunc(links, func(l wikilink.Link) bool { return backLink().MatchString(l.Target) })
	links = append(links, wikilink.Parse([]byte(n.Body))...)
	d.links = wikilink.Concepts(links)
	return d, vault.Check(n.URI, 0, len(links))
}

var (
	backLink = lazyregexp.New(`^(?:workflow|sequential)/(?:workflow|session)-\d`)
	codeSpan = lazyregexp.New("``.*?``|`[^`]*`")
	// inlineTag is a tag as Obsidian has it: not a number.
	inlineTag = lazyregexp.New(`(?:^|\s)#([\pL\pM\p{So}\p{Nd}_/-]*[\pL\pM\p{So}_/-][\pL\pM\p{So}\p{Nd}_/-]*)`)
)

// scan returns the tags in a note's body and its first heading of level 1.
func scan(body string) (tags []string, heading string) {
	for _, line := range wikilink.Lines(body) {
		if !strings.Contains(line, "#") {
			continue
		}
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), "# "); ok && heading == "" {
			heading = strings.TrimSpace(strings.TrimRight(text, "#"))
		}
		for _, tag := range inlineTag().FindAllStringSubmatch(codeSpan().ReplaceAllString(line, "x"), -1) {
			tags = append(tags, strings.Trim(tag[1], "/-"))
		}
	}
	return tags, heading
}

// normalizeTags returns tags in the form in which they are compared: in lower case and
// without #. A text may hold several tags, separated by commas or spaces.
func normalizeTags(tags []string) []string {
	all := strings.FieldsFunc(strings.Join(tags, " "), func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
	return distinct(all, func(tag string) string { return strings.ToLower(strings.Trim(tag, "#/")) })
}

// distinct returns what texts become, without repetitions and empty texts.
func distinct(texts []string, become func(string) string) (out []string) {
	seen := map[string]bool{"": true}
	for _, s := range texts {
		if s = become(s); !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

// stemMark begins the stems in the table words. It is in no word.
const stemMark = "ˢ"

// words returns the words of texts, then their stems. A paragraph sign, which is in no
// word, keeps phrases from matching across two texts.
func words(texts []string) string {
	var words, stems strings.Builder
	for _, text := range texts {
		for _, token := range textsearch.Tokens(text) {
			words.WriteString(token + " ")
			if !textsearch.Unspaced(token) {
				stems.WriteString(stemMark + textsearch.Stem(token) + " ")
			}
		}
		words.WriteString("¶ ")
	}
	return words.String() + stems.String()
}

// expression returns a term in the query language of FTS5. Words hold only letters, marks and
// digits, and are quoted: no input is taken for syntax.
func expression(t textsearch.Term) string {
	if t.IsWord() && !textsearch.Unspaced(t.Tokens[0]) {
		return `"` + stemMark + textsearch.Stem(t.Tokens[0]) + `"`
	}
	text := `"` + strings.Join(t.Tokens, " ") + `"`
	if t.Prefix {
		text += " *"
	}
	return text
}
