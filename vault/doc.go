// Package vault keeps notes: Markdown files below one folder, as people keep
// them for Obsidian and the like.
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
// A note has a [URI], memory://a/b.md, for the file a/b.md of the vault. Folders
// and files whose name begins with a dot hold no notes. What this package needs
// for itself is in the folder .sequent: locks and files that are being written.
// All of it can be deleted while no program has the vault open.
//
// # Whose a note is
//
// Notes belong to people. What a change function does not change stays as it
// is, byte for byte: the order and comments of front matter, line breaks,
// a byte order mark, the file's permissions. A note that changes on disk while
// it is being updated is read again.
//
// # Fences
//
// Nothing outside the folder is read or written, whatever a name says and
// wherever links point; links are not followed inside it either.
package vault
