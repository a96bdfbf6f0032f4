// Package vault reads and writes notes: Markdown files below one folder, such as an
// Obsidian vault.
//
//	v, err := vault.Open(vault.Config{Dir: dir})
//	note, err := v.Read(ctx, "memory://tech/auth-patterns.md")
//	note, err = v.Update(ctx, note.URI, func(n *vault.Note) error {
//		n.Body += "\nSee [[token-refresh]].\n"
//		return n.Front.Set("status", "reviewed")
//	})
//
// # Names
//
// The [URI] of the file a/b.md is memory://a/b.md. Folders and files whose name
// begins with a dot hold no notes. The folder .sequent holds a lock and temporary
// files. It can be deleted while no program has the vault open.
//
// # Edits by people
//
// What a change function does not change stays as it is, byte for byte: the order
// and comments of front matter, line breaks, a byte order mark, the file's
// permissions. A note that changes on disk during an update is read again.
//
// # Confinement
//
// Nothing outside the folder is read or written, whatever a name contains. Symbolic
// links are not followed, not even inside the folder.
package vault
