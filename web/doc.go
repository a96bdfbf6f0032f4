// Package web shows sessions in a browser: pages below /ui/, and the API below /api/ that
// they use. docs/reference/api.md describes the API for other programs.
//
// The pages are ES modules in the folder ui, embedded as they are, without a framework and
// without a build step. They hold no data. The API serves the sessions of the request's
// owner and of no other.
package web
