package worktree

import "testing"

func makePipe(*testing.T, string) {}
