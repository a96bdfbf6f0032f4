package textsearch

import "strings"

// AppendTokens appends to dst what an index of SQLite's FTS5 with tokenize=ascii contains
// of text, separated by spaces: its words, each followed by its [Stem] if that differs.
// The index needs neither positions nor columns.
func AppendTokens(dst []byte, text string) []byte {
	begin := len(dst)
	for sc := newScanner(text); sc.next(); {
		if len(dst) > begin {
			dst = append(dst, ' ')
		}
		dst = append(dst, sc.token...)
		token := string(sc.token)
		if stem := Stem(token); stem != token {
			dst = append(append(dst, ' '), stem...)
		}
	}
	return dst
}

// maxTSVector is a limit of PostgreSQL, less some for what it adds to each word.
const maxTSVector = 600_000 // bytes

// TSVector returns the words of a document's parts and their stems in the text form of
// PostgreSQL's tsvector, without positions. It returns false if they have more than
// 600 kB: such a document has no vector, and every search must check it.
func TSVector(parts ...string) (vector string, ok bool) {
	seen := make(map[string]bool)
	var b strings.Builder
	for _, part := range parts {
		for sc := newScanner(part); sc.next(); {
			token := string(sc.token)
			for _, s := range []string{token, Stem(token)} {
				if seen[s] {
					continue
				}
				seen[s] = true
				if b.WriteString("'" + s + "' "); b.Len() > maxTSVector {
					return "", false
				}
			}
		}
	}
	return b.String(), true
}

// FTS5 returns q as a query of SQLite's FTS5 on the result of [AppendTokens]: for
// documents with all words of q, or with one of them. Every match passes it, and few
// other documents do: of a phrase it asks for the words in any order. Its tokens are
// quoted, so that no text of a user is parsed as syntax.
func (q Query) FTS5(all bool) string {
	return q.index(all, indexSyntax{`"`, `" *`, " AND ", " OR ", " NOT "})
}

// TSQuery returns q as a PostgreSQL tsquery on the result of [TSVector], like
// [Query.FTS5]. It returns false if q must be checked without the index.
func (q Query) TSQuery(all bool) (query string, ok bool) {
	s := q.index(all, indexSyntax{`'`, `':*`, " & ", " | ", " & !"})
	return s, s != ""
}

type indexSyntax struct{ quote, prefix, and, or, not string }

func (q Query) index(all bool, x indexSyntax) string {
	var needed, other []string
	for _, t := range q.wanted {
		s := t.index(x)
		if all || t.Quoted {
			needed = append(needed, s)
		} else {
			other = append(other, s)
		}
	}
	s := strings.Join(needed, x.and)
	if s == "" && len(other) > 0 {
		s = "(" + strings.Join(other, x.or) + ")"
	} else if len(needed) > 1 {
		s = "(" + s + ")"
	}
	for _, t := range q.unwanted {
		if !t.Quoted { // an index has more than the words as they are written
			s += x.not + t.index(x)
		}
	}
	return s
}

func (t Term) index(x indexSyntax) string {
	switch {
	case t.IsWord():
		return x.quote + Stem(t.Tokens[0]) + x.quote
	case t.Prefix:
		return x.quote + t.Tokens[0] + x.prefix
	}
	return "(" + x.quote + strings.Join(t.Tokens, x.quote+x.and+x.quote) + x.quote + ")"
}
