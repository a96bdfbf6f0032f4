// Package coverage tests what the seed documents say about the tool, and writes
// docs/coverage.md.
//
// Each line of rows.txt is a row of that page. Tests and transcripts name the rows that they
// show. The transcripts are run over each transport; the page has what that found.
package coverage
