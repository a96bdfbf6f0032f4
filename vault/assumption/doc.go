// Package assumption keeps a ledger of what is taken for granted: each
// assumption is a note of the vault, with what became of it.
//
//	l := assumption.New(assumption.Config{Vault: v})
//	e, err := l.Append(ctx, assumption.Assumption{
//		Statement: "Tokens live for an hour.", Concepts: []string{"JWT"}, ValidationPlan: "Read the configuration.",
//	})
//	e, err = l.Update(ctx, e.URI, assumption.Change{Status: assumption.Invalidated, Notes: "Five minutes, says [[auth.yaml]]."})
//
// A note is assumptions/yyyy/MM/assumption-{ms}.md. Its front matter says how the
// assumption stands, its body has the statement, the concepts as WikiLinks, so
// that they are in the graph, and a section for each update. A person may edit
// the note: nothing of it is written anew but the keys that an update changes.
package assumption
