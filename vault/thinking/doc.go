// Package thinking keeps sessions as notes of a vault, one file a session, to be
// read and edited in Obsidian and the like.
//
//	files := thinking.New(thinking.Config{Vault: v})
//	err := files.Write(ctx, session)       // after each change of the session
//	report, err := files.Sync(ctx, engine) // mends what a crash has left behind
//
// # The file
//
//	---
//	title: Analyzing authentication flow
//	permalink: session-1756610546730-48291
//	type: sequential
//	status: active
//	created: 2025-08-31T03:22:26.730Z
//	modified: 2025-08-31T03:22:26.730Z
//	---
//
//	# Analyzing authentication flow
//
//	## Thought 0/5 [agent]
//
//	Analyzing [[authentication]] flow for [[JWT]] token refresh
//
//	*2025-08-31 03:22:26 UTC* ^thought-1
//
//	## Thought 3/5 [agent] (Branch: T-2.1.2-swe, from 2)
//
// A section ends in a line with its time and a block id, which tells its
// position in the session's log: [[session-1756610546730-48291#^thought-1]] links
// to it. Remarks beside a thought stand in a line of their own, *Thoughts: …*. A
// text that would reach beyond its section, with an open code fence for
// instance, stands in a callout; so every text can be read back as it was.
//
// Files of Maenifold, which have no block ids and stand in folders for year,
// month and day, are read as well, and continued where they are.
//
// # Whose the file is
//
// The log in the store is the truth for thoughts, the file is a person's to
// edit. A write adds the sections of new thoughts at the end and leaves the
// others alone: what was edited stays edited, what was deleted stays deleted,
// what was added stays where it is. Front matter is written when the session
// begins and when its state changes, and then only the keys that tell the
// state; in a session that is under way, modified is when it last did so, and
// there is no thoughtCount.
//
// So a write costs what it adds, however long the session. How far the file has
// been written is noted in .sequent/thinking of the vault; without that note the
// file is read once.
package thinking
