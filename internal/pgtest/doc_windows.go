// Package pgtest runs a private PostgreSQL server for tests. It is empty on
// Windows.
package pgtest
