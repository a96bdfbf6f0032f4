// Package index finds the notes of a vault by words, by meaning and by the
// [[WikiLinks]] that connect them.
//
//	x := index.New(index.Config{Vault: v})
//	defer x.Close()
//	report, err := x.Sync(ctx, nil)
//	results, err := x.Search(ctx, index.Query{Text: "token refresh"})
//	around, err := x.Context(ctx, index.ContextQuery{Concept: "rate limiting"})
//
// The index is a SQLite file in the vault's folder .sequent. Several processes
// share it. It holds nothing that is not in the notes: it may be deleted at any
// time, and a damaged or outdated file is replaced. Words of deleted notes and
// passages are erased from the file.
//
// # What is searched
//
// The head of a note (title, file name, aliases and tags), its body and the
// other values of its front matter. Words are found by SQLite's FTS5; package
// words defines what a word is, for Chinese and Japanese too.
//
// # Scores
//
// All scores are between 0 and 1 and do not depend on the page or on the other
// hits. See [Hit] for what each of them measures.
//
// # The graph
//
// A concept is the target of a link, in the body or in the front matter. Two
// concepts are related if a note links to both; the weight of the relation is
// the number of such notes.
//
// # Freshness
//
// [Index.Sync] reads the notes that have changed. [Index.Refresh] reads notes
// that the caller knows to have changed. While [Index.Watch] runs, it finds the
// changes of other programs. The first search calls Sync if no Sync has ever
// completed.
package index
