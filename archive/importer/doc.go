// Package importer imports sessions from files that other servers or this program
// have written.
//
//	im := importer.New(importer.Config{Engine: engine})
//	summary, err := im.Import(ctx, path, func(r importer.Result) { fmt.Println(r.File, r.Outcome) })
//
// The kind of a file is determined by its contents, not by its name; see [Kinds].
// Folders are searched recursively. A damaged file is reported and skipped.
//
// A second import adds only what is new in the source; see [sequent.Engine.Restore]. A
// session keeps the id of its source. If the source has none, the id is derived from
// data that does not change when the session grows.
package importer
