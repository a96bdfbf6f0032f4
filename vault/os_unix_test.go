//go:build unix

package vault_test

const onWindows = false
