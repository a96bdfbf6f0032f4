// Package importer brings in sessions that were recorded elsewhere: by another
// server, or by this program in another store.
//
//	im := importer.New(importer.Config{Engine: engine})
//	summary, err := im.Import(ctx, path, func(r importer.Result) { fmt.Println(r.File, r.Outcome) })
//
// What a file is shows in its content, not in its name; see [Kinds]. A folder
// is looked through with all below it. A damaged file is reported and left
// out, the rest goes on.
//
// Importing again changes nothing, and brings what a source has gained since;
// see [sequent.Engine.Restore]. A session keeps the id that its source gives
// it. Where there is none, the id is made of what does not change when the
// session grows.
package importer
