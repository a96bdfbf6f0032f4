package command

import (
	"os/exec"
	"runtime"
	"testing"
)

// A shell passes a quoted word on as it is.
func TestQuoted(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("asks sh")
	}
	for _, word := range []string{"", "a", "a b", "$(touch x)", "`id`", `a\b`, `a"b`, "it's", "~", "#1", "7k3#4", "a!b", "a\nb", "*", "-x", "=x", "é"} {
		out, err := exec.CommandContext(t.Context(), "sh", "-c", "printf %s "+quoted(word)).Output()
		if err != nil || string(out) != word {
			t.Errorf("sh makes %q of %s: %v", out, quoted(word), err)
		}
	}
}

func TestQuotedForWindows(t *testing.T) {
	for word, want := range map[string]string{
		"": `""`, `C:\bin\sequent.exe`: `C:\bin\sequent.exe`, `C:\Program Files\x.exe`: `"C:\Program Files\x.exe"`,
		`C:\my dir\`: `"C:\my dir\\"`, "$(calc)": "'$(calc)'", "a`b": "'a`b'", "%PATH%": "'%PATH%'", "it's $1": "'it''s $1'",
		"\u2019$x": "'\u2019\u2019$x'", "a,b": `"a,b"`, "a&b": `"a&b"`,
	} {
		if got := quotedForWindows(word); got != want {
			t.Errorf("%q becomes %s, want %s", word, got, want)
		}
	}
}
