// Package workflow leads through named steps, and keeps what came of each in a
// note of the vault.
//
//	w := workflow.New(workflow.Config{Vault: v})
//	run, err := w.Start(ctx, workflow.Plan{Queue: []string{"debugging"}})
//	step, _ := run.Next()                             // what to do
//	run, err = w.Advance(ctx, run.ID, workflow.Answer{Response: "The [[cache]] is cold."})
//	run, err = w.Close(ctx, run.ID, workflow.Closing{Status: workflow.Completed, Conclusion: "Warm the [[cache]]."})
//
// # Definitions
//
// A [Definition] is a JSON file. Some are shipped with the program; those in the
// folder workflows of the vault come on top, and replace shipped ones with the
// same id. A file with a mistake is reported with the field and the remedy, and
// hides no other.
//
// # Runs
//
// A [Run] is a note, memory://thinking/workflow/{id}.md. Its front matter says
// where the run is, and is all there is to say that: a person may write in the
// note what they like, and may set the run back by changing a number. Each call
// changes the note in one step or not at all. Two agents that answer at the same
// time are both recorded, one after the other, unless they say which step they
// mean; see [Answer].
package workflow
