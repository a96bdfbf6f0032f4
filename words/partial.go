package words

import (
	"slices"
	"unicode/utf8"
)

// Content returns q without function words such as the, unless they are quoted or
// all that q asks for, and with one form of each word. Stores search for the content
// of a query.
func (q Query) Content() Query {
	var content []Term
	for _, t := range q.wanted {
		if t.isWord() && (IsFunctionWord(t.Tokens[0]) || slices.ContainsFunc(content, t.isFormOf)) {
			continue
		}
		content = append(content, t)
	}
	if len(content) > 0 {
		q.wanted = content
	}
	return q
}

// isWord reports whether t is a single word that matches its forms.
func (t Term) isWord() bool { return !t.Quoted && !t.Prefix && len(t.Tokens) == 1 }

func (t Term) isFormOf(o Term) bool {
	return o.isWord() && slices.Contains(Forms(o.Tokens[0]), t.Tokens[0])
}

// Partial returns the query for documents with some of the words of q. A document
// matches if at least one wanted term occurs in it; [Corpus.Score] puts those with
// more terms first. Words of several tokens that are not quoted count as that many
// terms, and scripts without spaces between words as pairs of characters.
//
// It returns false if that query finds no more than q.
func (q Query) Partial() (Query, bool) {
	p := Query{unwanted: q.unwanted, partial: true}
	add := func(t Term) {
		if len(p.wanted)+len(p.unwanted) < maxTerms && !slices.ContainsFunc(p.wanted, t.equal) {
			p.wanted = append(p.wanted, t)
		}
	}
	for _, t := range q.wanted {
		if t.Quoted || len(t.Tokens) == 1 {
			add(t)
			continue
		}
		for _, part := range t.parts() {
			add(part)
		}
	}
	p = p.Content()
	return p, len(p.wanted) > 1
}

// IsPartial reports whether q is a result of [Query.Partial].
func (q Query) IsPartial() bool { return q.partial }

// Query returns the query for t alone.
func (t Term) Query() Query { return Query{wanted: []Term{t}} }

// parts splits a term of several tokens.
func (t Term) parts() []Term {
	var out []Term
	last := len(t.Tokens) - 1
	for i := 0; i <= last; i++ {
		part := Term{Tokens: t.Tokens[i : i+1]}
		switch token := t.Tokens[i]; {
		case !Unspaced(token):
			part.Prefix = t.Prefix && i == last
			if part.Prefix && utf8.RuneCountInString(token) < minPrefix {
				continue // it would match too many words
			}
		case i < last && Unspaced(t.Tokens[i+1]):
			part.Tokens = t.Tokens[i : i+2]
			part.Quoted = true
		case i > 0 && Unspaced(t.Tokens[i-1]): // in the pair before
			continue
		}
		out = append(out, part)
	}
	return out
}
