// Package archive renders sessions and writes them to files.
//
//	doc := archive.Markdown(s)                  // for people
//	chart := archive.Mermaid(s)                 // for a diagram
//	data := archive.JSON(s)                     // for programs: everything, see [Export]
//	err := archive.Dir(path).WriteSession(s)    // path/{id}/session.json
//
// Renderings are made of a snapshot and are the same for the same snapshot.
// Whatever a thought says, it cannot break their form: not the structure of a
// document, not the grammar of a diagram, not the path of a file.
//
// # Session files
//
// A session file is the document that the session's tool promises on completion:
//
//	{
//	  "id": "session-20250428-145302",
//	  "timestamp": "2025-04-28T14:53:02.123Z",
//	  "thoughtHistory": [ … every thought … ],
//	  "branches": { "label": [ … the thoughts that opened or continued it … ] }
//	}
//
// Thoughts have the fields that their author gave. Where a [sequent.Draft] does
// not tell what that was, labels do; see [Given].
package archive
