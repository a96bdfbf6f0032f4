// Package workflow runs sequences of named steps and records the answer to each step in
// a note of the vault.
//
//	w := workflow.New(v, time.Now)
//	run, err := w.Start(ctx, workflow.Plan{Queue: []string{"debugging"}})
//	step := run.Next                                  // the step to do
//	run, err = w.Advance(ctx, run.ID, workflow.Answer{Response: "The [[cache]] is cold."})
//	run, err = w.Advance(ctx, run.ID, workflow.Answer{Status: sequent.Completed, Conclusion: "Warm the [[cache]]."})
//
// # Definitions
//
// A [Definition] is a JSON file. Some are part of the program. Those in the folder
// workflows of the vault are added, and replace shipped ones with the same id. A file
// with a mistake is reported with the field and the correction, and does not affect
// other files.
//
// # Runs
//
// A [Run] is a note, memory://thinking/workflow/{id}.md. All its state is in the front
// matter: a person may edit the body, and may set the run back by changing a number. A
// call changes the note completely or not at all. The answers of two agents at the same
// time are both recorded, one after the other, unless [Answer.At] says which step they
// are for.
package workflow
