// Package archive renders sessions and writes them to files.
//
//	doc := archive.Markdown(s)                  // for people
//	chart := archive.Mermaid(s)                 // for a diagram
//	data := archive.JSON(s)                     // for programs: everything, see [Export]
//	err := archive.Dir(path).WriteSession(s)    // path/{id}/session.json
//
// A rendering depends only on the snapshot. The text of a thought cannot change the
// structure of a document, the syntax of a diagram or the path of a file.
//
// # Session files
//
// A session file is the document that a dialect writes when a session is completed:
//
//	{
//	  "id": "session-20250428-145302",
//	  "timestamp": "2025-04-28T14:53:02.123Z",
//	  "thoughtHistory": [ … every thought … ],
//	  "branches": { "label": [ … the thoughts that opened or continued it … ] }
//	}
//
// A thought has the fields that its author passed. Labels record those that a
// [sequent.Draft] cannot represent.
package archive
