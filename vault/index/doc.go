// Package index finds the notes of a vault by words, by meaning and by the
// [[WikiLinks]] that connect them.
//
//	x := index.New(index.Config{Vault: v})
//	defer x.Close()
//	report, err := x.Sync(ctx, nil)
//	results, err := x.Search(ctx, index.Query{Text: "token refresh"}, nil)
//	around, err := x.Context(ctx, index.ContextQuery{Concept: "rate limiting"})
//
// The index is a SQLite file in the vault's folder .sequent. Several processes
// share it. It holds nothing that is not in the notes, and a damaged or outdated file is
// replaced. Words of deleted notes and passages are erased from the file.
//
// # What is searched
//
// The head of a note (title, file name, aliases and tags), its body and the
// other values of its front matter. Words are found by SQLite's FTS5; package
// textsearch defines what a word is, for Chinese and Japanese too.
//
// # The graph
//
// A concept is the target of a link, in the body or in the front matter. Two
// concepts are related if a note links to both; the weight of the relation is
// the number of such notes.
//
// # Freshness
//
// Searches find notes as they are, whoever changed them: each first reads the notes that
// have changed. On Linux, the kernel tells which; otherwise all are compared by size and
// time. [Index.Sync] always compares them, and asks for all embeddings.
package index
