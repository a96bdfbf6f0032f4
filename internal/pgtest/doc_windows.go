// Package pgtest runs a PostgreSQL server of its own for tests. On Windows it
// has none.
package pgtest
