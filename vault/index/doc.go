// Package index finds the notes of a vault: by words, by meaning, and by what
// their [[WikiLinks]] connect.
//
//	x := index.New(index.Config{Vault: v})
//	defer x.Close()
//	report, err := x.Sync(ctx, nil)
//	results, err := x.Search(ctx, index.Query{Text: "token refresh"})
//	around, err := x.Context(ctx, index.ContextQuery{Concept: "rate limiting"})
//
// The index is a file in the vault's folder .sequent that several processes
// share. It holds nothing that is not in the notes: it may be deleted at any
// time, and a damaged one is thrown away and made anew.
//
// # What is found
//
// A note is found by what stands in its body, in its title, its file name, its
// aliases and tags, and in the other values of its front matter. Package words
// says what a word is.
//
// # The graph
//
// A concept is what a link names, in the body or in the front matter. Two
// concepts are related if they occur together in a note; in how many they do
// is the weight of the relation.
//
// # Freshness
//
// [Index.Sync] reads what has changed. [Index.Refresh] does so for notes that
// are known to have changed. While [Index.Watch] runs, changes by other
// programs are found without either. The first search or context of an index
// that has never been complete calls Sync.
package index
