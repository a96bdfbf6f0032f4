// Package counts has a test that counts what a call costs, and the table that it compares with.
package counts
