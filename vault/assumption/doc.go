// Package assumption keeps a ledger of assumptions. Each is a note of the vault with its
// history.
//
//	l := assumption.New(assumption.Config{Vault: v})
//	e, err := l.Append(ctx, assumption.Assumption{
//		Statement: "Tokens live for an hour.", Concepts: []string{"JWT"}, ValidationPlan: "Read the configuration.",
//	})
//	e, err = l.Update(ctx, e.URI, assumption.Change{Status: assumption.Invalidated, Notes: "Five minutes, says [[auth.yaml]]."})
//
// A note is assumptions/yyyy/MM/assumption-{ms}.md. Its front matter has the status. Its
// body has the statement, the concepts as WikiLinks, and a section for each update. A
// person may edit the note: an update changes keys of the front matter and adds a
// section, and nothing else.
package assumption
