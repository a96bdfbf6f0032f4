// Package edit changes notes of a vault for agents: it writes, appends, replaces
// sections, finds and replaces, moves notes together with the links to them, and deletes.
//
//	e := edit.New(edit.Config{Vault: v})
//	n, err := e.Write(ctx, edit.Note{URI: "memory://ideas/pool.md", Title: "The pool", Content: "See [[checkout]]."})
//	n, err = e.Append(ctx, edit.Change{URI: n.URI, Content: "And [[report job]].", Checksum: edit.Checksum(n)})
//	moved, err := e.Move(ctx, n.URI, "memory://design/connection-pool.md", "")
//
// Every note keeps at least one WikiLink, so that it stays connected. Notes that other
// tools write, such as those of sessions, cannot be edited here.
//
// # Lost updates
//
// A [Checksum] is that of the whole file. A change with a checksum is refused with
// CodeChanged if the file has another one, whoever has changed it. To replace or delete
// a whole note needs one. Changes of a part do not, because they keep the rest as it is
// at that moment.
//
// # Moves
//
// A move changes the links to the note in all notes, one after the other, and then renames
// the file. After a process was killed in between, the same call does the rest.
package edit
