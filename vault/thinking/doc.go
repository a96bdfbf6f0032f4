// Package thinking writes sessions to notes of a vault, one file per session, which
// people read and edit in Obsidian or another editor.
//
//	files := thinking.New(v)
//	uri, err := files.Write(ctx, session)         // after each change of the session
//	report, err := files.Sync(ctx, engine, false) // after a crash
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
// The last line of a section has its time and a block id with its position in the
// session's log: [[session-1756610546730-48291#^thought-1]] links to it. Remarks are in a
// separate line, *Thoughts: …*. A text that would affect what follows it, for instance
// with an open code fence, is in a callout. So every text can be parsed again.
//
// Files of Maenifold, which have no block ids and are in folders by date, are parsed too,
// and continued where they are.
//
// # Edits by people
//
// The log in the store is the truth about thoughts; the file may be edited. A write adds
// the sections that the file was never given: edited sections stay edited, deleted ones
// deleted, and added text stays. Of front matter it writes the keys of the session's
// state. The file is read and written whole, with a temporary file and a rename.
package thinking
