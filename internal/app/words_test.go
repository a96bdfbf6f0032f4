package app

import (
	"slices"
	"testing"
)

func TestSplitWords(t *testing.T) {
	tests := []struct {
		line string
		want []string
	}{
		{"npx -y server /srv", []string{"npx", "-y", "server", "/srv"}},
		{"  a\t b\n", []string{"a", "b"}},
		{`sh -c 'echo "hi there"'`, []string{"sh", "-c", `echo "hi there"`}},
		{`a "b c"d '' "e\"f"`, []string{"a", "b cd", "", `e"f`}},
		{`a b\ c`, []string{"a", "b c"}},
		{`C:\tools\server.exe "C:\my files\x"`, []string{`C:\tools\server.exe`, `C:\my files\x`}},
		{`a 'b\'`, []string{"a", `b\`}},
		{`größe --名 "日 本"`, []string{"größe", "--名", "日 本"}},
		{`""`, []string{""}},
		{"", nil}, {"  ", nil},
	}
	for _, tt := range tests {
		got, err := SplitWords(tt.line)
		if !slices.Equal(got, tt.want) || err != nil {
			t.Errorf("SplitWords(%q) = %q, %v, want %q", tt.line, got, err, tt.want)
		}
	}
	for _, line := range []string{`"a`, `a 'b`, `a"`} {
		if got, err := SplitWords(line); err == nil {
			t.Errorf("SplitWords(%q) = %q, want an error", line, got)
		}
	}
}
