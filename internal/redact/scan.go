package redact

import (
	"context"
	"strings"
	"sync"

	"github.com/sequent-dev/sequent/internal/lazyregexp"
)

// secretRules are the rules of [Secrets].
var secretRules = sync.OnceValue(func() []rule { return append(shapeless(), tabled()...) })

// Secrets returns a finder of keys, tokens and passwords. Only the parts of a text around the words
// of a rule are compared with its expression, in time that is linear in the text.
func Secrets() Finder {
	return func(ctx context.Context, text string, found func(secret, name string)) {
		for _, m := range ownKeys().FindAllStringSubmatchIndex(text, -1) {
			if start, end := secretOf(m); hasDigit("", text[start:end]) {
				found(text[start:end], "sequent link or key")
			}
		}
		low := lower(text)
		for i := range secretRules() {
			r := &secretRules()[i]
			for _, word := range r.words {
				for at := 0; ctx.Err() == nil; at++ {
					n := strings.Index(low[min(at, len(low)):], word)
					if n < 0 {
						break
					}
					if at += n; !r.separated || at == 0 || !isWord(text[at-1]) {
						at = r.compare(text, at, found) - 1
					}
				}
			}
		}
	}
}

// ownKeys matches the secrets of links and view keys, which are two texts as crypto/rand.Text makes
// them, and codes to sign in, which are one in the fragment of a URL.
var ownKeys = lazyregexp.New(`\b([A-Z2-7]{52})\b|#([A-Z2-7]{26})\b`)

// lower returns a text with the letters of ASCII in lower case, and of the same length.
func lower(text string) string {
	b := []byte(text)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] += 'a' - 'A'
		}
	}
	return string(b)
}

// Bytes of a text around a word that are compared with an expression.
const (
	windowBefore = 256  // for rules that do not begin with the word
	windowAfter  = 2048 // more if a match reaches the end
)

// compare reports the secrets around a word at a position of the text, and returns where
// the next comparison may begin.
func (r *rule) compare(text string, at int, found func(secret, name string)) int {
	from := at
	if !r.begins {
		from = max(0, at-windowBefore)
	}
	size := windowAfter
	matches := r.expr().FindAllStringSubmatchIndex(text[from:min(at+size, len(text))], -1)
	for at+size < len(text) && len(matches) > 0 && from+matches[len(matches)-1][1] == at+size { // it may go on
		size *= 2
		matches = r.expr().FindAllStringSubmatchIndex(text[from:min(at+size, len(text))], -1)
	}
	next := at + 1
	if !r.begins {
		next = at + size - windowBefore
	}
	for _, m := range matches {
		start, end := secretOf(m)
		start, end = from+start, from+end
		if secret := text[start:end]; entropy(secret) < r.entropy || r.accepts != nil && !r.accepts(text[from+m[0]:from+m[1]], secret) {
			continue
		}
		for end < len(text) && isWord(text[end]) { // of a longer token than the expression knows
			end++
		}
		found(strings.TrimRight(text[start:end], "."), r.name)
		next = max(next, end)
	}
	return next
}

func isWord(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_'
}
