package aisdk

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent/internal/needtest"
)

// mended has what version 5 of the SDK renamed since the seed document, and the results of all steps
// in the place of those of the last, which has none when the model has answered.
var mended = []struct {
	was *regexp.Regexp
	is  string
}{
	{regexp.MustCompile(`\bmaxSteps: (\d+|designPhase\.maxSteps),\n`), "stopWhen: stepCountIs($1),\n"},
	{regexp.MustCompile(`\?\.result\?\.sessionId`), "?.output.sessionId"},
	{regexp.MustCompile(`result\.toolResults\?`), "result.steps.flatMap((step) => step.toolResults)"},
}

// The examples of the seed document and its test of an agent's loop run, with mended names and
// a scripted model. What they import is here by the names that they have for it.
func testExamples(t *testing.T, f fixture) {
	bun, err := filepath.Abs("node_modules/.bin/bun")
	if err != nil {
		t.Fatal(err)
	}
	sdk, err := filepath.Abs("node_modules/ai-v6")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{bun, sdk} {
		if _, err := os.Stat(file); err != nil {
			needtest.Missing(t, file+" is not installed", "run make npm")
		}
	}
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("tools/sequential-thinking.ts", "export * from '"+f.path(t)+"';\n")
	write("sequential-thinking.ts", "export * from './tools/sequential-thinking';\n")
	write("agents/tool-loop-agent.ts", "export {};\n")
	write("node_modules/@ai-sdk/zai/package.json", `{"name":"@ai-sdk/zai","main":"zai.ts"}`)
	write("node_modules/@ai-sdk/zai/zai.ts", read(t, "testdata/zai.ts"))
	if err := os.Symlink(sdk, filepath.Join(dir, "node_modules", "ai")); err != nil {
		t.Fatal(err)
	}
	write("examples.ts", read(t, "testdata/examples.ts"))
	for name, ends := range map[string]string{
		"plan.ts": "export { designPhase };", "explore.ts": "export { exploreAgent };", "external.ts": "export { MyCustomAgent };",
		"multi.ts": "export {};", "settings.ts": "export {};", "sessions.ts": "", "loop.test.ts": "",
	} {
		code := read(t, "testdata/examples/"+name)
		if name != "multi.ts" { // its agents are the document's own
			for _, m := range mended {
				code = m.was.ReplaceAllString(code, m.is)
			}
		}
		write(name, "import { stepCountIs } from 'ai';\n"+code+ends+"\n")
	}
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.Command(bun, args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return string(out)
	}
	if out := run("test"); !strings.Contains(out, "1 pass") {
		t.Errorf("the document's test says %s", out)
	}
	printed := strings.Split(strings.TrimSpace(run("examples.ts")), "\n")
	const want = `{"plan":{"known":true,"thoughts":[3]},"explore":{"thoughts":[3]},"external":{"text":"Done.","thoughts":[6]},` +
		`"multi":{"thoughts":[3,3,3]},"settings":{"thoughts":[3]},"sessions":{"thoughts":[]}}`
	if got := printed[len(printed)-1]; got != want {
		t.Errorf("the examples come to\n%s\nwant\n%s", got, want)
	}
	if got := strings.Join(printed[:len(printed)-1], "\n"); got != "Thoughts: undefined\nBranches: undefined" {
		t.Errorf("the example of session functions prints %s", got)
	}
}
