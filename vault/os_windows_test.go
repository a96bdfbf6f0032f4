package vault_test

import "testing"

const onWindows = true

func makeSpecial(*testing.T, string) []string { return nil }
