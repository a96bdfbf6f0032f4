// Package sequent records chains of numbered thoughts, for agents that reason
// step by step, and gives them back: across restarts, clients and machines.
//
// A [Session] is an append-only log of thoughts. A thought may revise an
// earlier one or open a branch; it is never changed. An [Engine] is the one
// place where sessions change:
//
//	engine := sequent.New(sequent.Config{})
//	session, err := engine.Ensure(ctx, "plan", func(c *sequent.Change) error {
//		_, err := c.Append(sequent.Draft{Number: 1, Total: 3, Text: "Begin with what is known."})
//		return err
//	})
//
// The zero [Config] keeps sessions in memory. Package store/sqlite keeps them in
// a file that several processes may share.
//
// # Verbs
//
// Begin, Update and Ensure differ in what they expect to find: no session, a
// session, or either. Each takes a change function, which records a [Change]
// that is committed as a whole or not at all. Make decisions that depend on the
// session in the function: it reads [Change.Session], which is the session that
// the change will be applied to.
//
// # Views
//
// The log keeps what authors said, in the order in which they said it. Views
// make sense of it: [Session.Path] is the lineage of a branch,
// [Session.Effective] the same with revised thoughts replaced by their
// revisions, [Session.Outline] the whole tree. [Engine.Watch] tells of changes, from
// whatever process.
//
// # Guarantees
//
// A verb returns when its change is durable, as the store defines that. An
// append costs what it adds, however long the session. A refused change leaves
// no trace. Sequence numbers have no gaps. Errors carry a stable [Code].
package sequent
