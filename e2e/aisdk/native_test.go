package aisdk

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent/e2e/programtest"
	"github.com/sequent-dev/sequent/internal/needtest"
)

var seed = flag.Uint64("seed", 0, "seed of random calls; 0 means a random one")

// options returns the options of the package for each place of its sessions.
func options(t *testing.T, program string) map[string]map[string]any {
	t.Helper()
	dir := t.TempDir()
	tokens := filepath.Join(dir, "tokens")
	token := programtest.Token(t, tokens, "alice")
	url := programtest.ServeHTTP(t, program, "--store", filepath.Join(dir, "server.db"), "--auth", tokens, "--rate", "0")
	return map[string]map[string]any{
		"process": {},
		"program": {"command": program, "store": filepath.Join(dir, "local.db")},
		"server":  {"url": strings.TrimSuffix(url, "/mcp"), "token": token},
	}
}

// A fixture has what all tests of the package need, which is built once.
type fixture struct {
	program string // sequent
	node    string
	file    string // URL of the package's module
}

func TestPackage(t *testing.T) {
	t.Parallel()
	node := ready(t)
	f := fixture{programtest.Build(t), node, programtest.NPMPackage(t, node, "ai-sdk")}
	for name, test := range map[string]func(*testing.T, fixture){
		"Oracle": testOracle, "Agent": testAgent, "KilledProgram": testKilledProgram, "KilledServer": testKilledServer,
		"Growth": testGrowth, "WithoutProgram": testWithoutProgram, "Engines": testEngines, "Page": testPage,
		"SeedTests": testSeedTests, "Examples": testExamples, "EngineSize": testEngineSize, "Types": testTypes, "Example": testExample,
		"Tarball": testTarball,
	} {
		t.Run(name, func(t *testing.T) { test(t, f) })
	}
}

// The package answers as the code of seed 000 does.
func testOracle(t *testing.T, f fixture) {
	from := *seed
	if from == 0 {
		from = uint64(time.Now().UnixNano()) % (1 << 32)
	}
	for way, o := range options(t, f.program) {
		t.Run(way, func(t *testing.T) {
			server, err := json.Marshal(o)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("-seed=%d", from)
			cmd := exec.Command(f.node, "--disable-warning=ExperimentalWarning", "oracle.mjs", f.file, string(server), fmt.Sprint(from), fmt.Sprint(programtest.Size(400)))
			out := programtest.Output(t, cmd)
			var got struct{ Calls, Refused int }
			if err := json.Unmarshal(out, &got); err != nil || got.Calls < programtest.Size(4000) || got.Refused < 15 {
				t.Fatalf("%v: oracle.mjs printed %s", err, out)
			}
			t.Logf("%d calls, %d refusals", got.Calls, got.Refused)
		})
	}
}

// native runs a scenario of native.mjs and returns what it prints.
func native(t *testing.T, f fixture, o map[string]any, args ...string) []byte {
	t.Helper()
	server, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return programtest.Output(t, exec.Command(f.node, append([]string{"--expose-gc", "native.mjs", f.file, string(server)}, args...)...))
}

// Agents of both versions of the SDK think with the tool. A refusal reaches the model.
func testAgent(t *testing.T, f fixture) {
	for way, o := range options(t, f.program) {
		for _, version := range []string{"v6", "v7"} {
			t.Run(way+" "+version, func(t *testing.T) {
				out := native(t, f, o, "agent", version)
				var got struct {
					Text     string
					IDs      int
					Last     struct{ Summary string }
					Refusals []string
					Stored   []string
				}
				if err := json.Unmarshal(out, &got); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
				want := []string{"Orders fail at noon.", "The database is slow.", "It is idle; the pool is empty.", "Enlarge the pool."}
				if got.Text != "Done." || got.IDs != 1 || !slices.Equal(got.Stored, want) || got.Last.Summary == "" {
					t.Errorf("got %s, want one session with %q", out, want)
				}
				if len(got.Refusals) == 0 || !strings.Contains(got.Refusals[0], "thoughtNumber is 0") {
					t.Errorf("the model was told %q, want what is wrong with thoughtNumber", got.Refusals)
				}
			})
		}
	}
}

// checkLoad checks that each of n thoughts was recorded once, in order, and that no call
// began two sessions. It returns how often the program was killed.
func checkLoad(t *testing.T, out []byte, n int) int {
	t.Helper()
	var got struct {
		Thoughts        []int
		Sessions, Begun int
		Killed          int
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if len(got.Thoughts) != n || got.Sessions != got.Begun+1 {
		t.Errorf("%d thoughts and %d sessions, want %d and %d", len(got.Thoughts), got.Sessions, n, got.Begun+1)
	}
	for i, thought := range got.Thoughts {
		if thought != i+1 {
			t.Fatalf("thought %d is %d", i+1, thought)
		}
	}
	return got.Killed
}

// The program is killed again and again while calls run. None is lost or recorded twice.
func testKilledProgram(t *testing.T, f fixture) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell and SIGKILL")
	}
	dir := t.TempDir()
	pid, wrapper := filepath.Join(dir, "pid"), filepath.Join(dir, "sequent.sh")
	script := fmt.Sprintf("#!/bin/sh\necho $$ > '%s.new' && mv '%[1]s.new' '%[1]s' && exec '%[2]s' \"$@\"\n", pid, f.program)
	if err := os.WriteFile(wrapper, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	const n = 200
	out := native(t, f, map[string]any{"command": wrapper, "store": filepath.Join(dir, "sequent.db")}, "load", fmt.Sprint(n), pid)
	if killed := checkLoad(t, out, n); killed < 5 {
		t.Errorf("the program was killed %d times, want 5 or more", killed)
	}
}

// The same with a server that is killed and started again at its address.
func testKilledServer(t *testing.T, f fixture) {
	store := filepath.Join(t.TempDir(), "sequent.db")
	server := programtest.StartHTTP(t, f.program, "--store", store, "--rate", "0")
	address := strings.TrimSuffix(strings.TrimPrefix(server.URL, "http://"), "/mcp")
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for range 3 {
			select {
			case <-stop:
				return
			case <-time.After(300 * time.Millisecond):
			}
			server.Kill(t)
			server = programtest.StartHTTP(t, f.program, "--http", address, "--store", store, "--rate", "0")
		}
	}()
	const n = 200
	out := native(t, f, map[string]any{"url": "http://" + address}, "load", fmt.Sprint(n))
	close(stop)
	<-done
	server.Stop(t)
	checkLoad(t, out, n)
}

// Neither the memory nor the handles of a process grow over 10,000 sessions.
func testGrowth(t *testing.T, f fixture) {
	out := native(t, f, map[string]any{"command": f.program, "store": "memory"}, "grow", fmt.Sprint(programtest.Size(10_000)))
	var got struct{ Sessions, Heap, Handles int }
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Logf("%+v", got)
	// A session of which the package kept only the id would cost more than 100 bytes.
	if limit := 300_000 + 20*got.Sessions; got.Heap > limit || got.Handles > 0 {
		t.Errorf("%d sessions: %d bytes and %d handles more, want at most %d and 0", got.Sessions, got.Heap, got.Handles, limit)
	}
}

// The program cannot be found, ends at once, or is not sequent: calls fail with the cause. Nothing
// is sent to where a server redirects.
func testWithoutProgram(t *testing.T, f fixture) {
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("redirected: %s %v", r.Method, r.Header) }))
	defer other.Close()
	server := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer server.Close()
	const call = `const [file, options] = process.argv.slice(1);
		const { getSession } = await import(file);
		try { await getSession('x', JSON.parse(options)); } catch (error) { process.stdout.write(error.message); }`
	for _, tt := range []struct{ options, want string }{
		{`{"command":"sequent"}`, "INVALID_ARGUMENT: command, sessionTtlMs and token are about sessions outside of this process; add store or url"},
		{`{"command":"/no/such/program","store":true}`, "PROGRAM_NOT_FOUND: sequent cannot be started: "},
		{`{"command":"go","store":true}`, "PROGRAM_ENDED: sequent has ended with code "},
		{`{"url":"` + server.URL + `","token":"t"}`, "PROTOCOL: the server answered 307 without a reply; check the option url"},
		{`{"url":"http://127.0.0.1:9"}`, "SERVER_UNREACHABLE: http://127.0.0.1:9 does not answer; check the option url"},
	} {
		out := programtest.Output(t, exec.Command(f.node, "--input-type=module", "-e", call, f.file, tt.options))
		if !strings.HasPrefix(string(out), tt.want) {
			t.Errorf("%s: got %s, want %s", tt.options, out, tt.want)
		}
	}
}

// The tool fits the types of both versions of the SDK, and replies have types.
func testTypes(t *testing.T, f fixture) {
	programtest.Output(t, exec.Command(f.node, "../../npm/ai-sdk/node_modules/typescript/bin/tsc", "-p", "tsconfig.json"))
}

// The example of docs/ai-sdk.md runs, in its process and with a store, for which it finds the
// program in each documented way. The second run continues the session of the first.
func testExample(t *testing.T, f fixture) {
	const script = `import { think, report } from './example.mjs';
		import { MockLanguageModelV4 } from 'ai/test';
		const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
		const place = JSON.parse(process.argv[2]);
		const run = (sessionId) => {
			let n = 0;
			const doGenerate = async () => n++ ? { content: [{ type: 'text', text: 'Done.' }], finishReason: { unified: 'stop' }, usage, warnings: [] } : {
				content: [{ type: 'tool-call', toolCallId: 'c', toolName: 'sequentialthinking', input: '{"thought":"a","thoughtNumber":1,"totalThoughts":2,"nextThoughtNeeded":true,"branchId":"b"}' }],
				finishReason: { unified: 'tool-calls' }, usage, warnings: [],
			};
			return think({ model: new MockLanguageModelV4({ doGenerate }), prompt: 'Why?', sessionId, ...place });
		};
		const first = await run();
		const later = await run(first.sessionId);
		process.stdout.write(later.text + ' ' + (first.sessionId === later.sessionId) + ' ' + (place.store ? '' : report(first.sessionId)));`
	modules := filepath.Dir(filepath.Dir(filepath.Dir(filepath.Dir(strings.TrimPrefix(f.file, "file://")))))
	dir := filepath.Dir(modules)
	real, err := filepath.Abs("node_modules/ai")
	if err != nil {
		t.Fatal(err)
	}
	launcher := filepath.Join(modules, "@sequent-dev", "sequent")
	for _, step := range []error{
		os.Symlink(real, filepath.Join(modules, "ai")),
		os.WriteFile(filepath.Join(dir, "example.mjs"), []byte(read(t, "example.mjs")), 0o644),
		os.WriteFile(filepath.Join(dir, "run.mjs"), []byte(script), 0o644),
	} {
		if step != nil {
			t.Fatal(step)
		}
	}
	path := os.Getenv("PATH")
	for _, way := range []struct {
		name, place, want string
		env               []string
	}{
		{"process", `{}`, "Done. true 2 thoughts, 1 branches", []string{"PATH="}},
		{"SEQUENT_BIN", `{"store":true}`, "Done. true ", []string{"SEQUENT_BIN=" + f.program}},
		{"PATH", `{"store":true}`, "Done. true ", []string{"PATH=" + filepath.Dir(f.program) + string(filepath.ListSeparator) + path}},
		{"package", `{"store":true}`, "Done. true ", nil},
	} {
		if way.name == "package" {
			source := fmt.Sprintf("require('node:child_process').spawn(%q, process.argv.slice(2), { stdio: 'inherit' });", f.program)
			for _, step := range []error{
				os.Mkdir(launcher, 0o755),
				os.WriteFile(filepath.Join(launcher, "sequent.js"), []byte(source), 0o644),
				os.WriteFile(filepath.Join(launcher, "package.json"), []byte(`{"name":"@sequent-dev/sequent","version":"0.0.0","bin":{"sequent":"sequent.js"}}`), 0o644),
			} {
				if step != nil {
					t.Fatal(step)
				}
			}
		}
		cmd := exec.Command(f.node, "run.mjs", way.place)
		cmd.Dir = dir
		cmd.Env = append(append(os.Environ(), "SEQUENT_BIN=", "SEQUENT_STORE="+filepath.Join(t.TempDir(), "sequent.db")), way.env...)
		if out := string(programtest.Output(t, cmd)); out != way.want {
			t.Errorf("%s: got %s", way.name, out)
		}
	}
}

// The published package has its code, its types and its page, and depends on nothing.
func testTarball(t *testing.T, f fixture) {
	npm := needtest.Program(t, "npm", "install npm")
	cmd := exec.Command(npm, "pack", "--json", "--dry-run", "--ignore-scripts", "--offline")
	cmd.Dir = filepath.Dir(filepath.Dir(strings.TrimPrefix(f.file, "file://")))
	var packed []struct {
		Files []struct{ Path string }
	}
	if err := json.Unmarshal(programtest.Output(t, cmd), &packed); err != nil || len(packed) != 1 {
		t.Fatalf("%v: %+v", err, packed)
	}
	var files []string
	for _, file := range packed[0].Files {
		files = append(files, file.Path)
		if strings.HasPrefix(file.Path, "src/") {
			t.Errorf("the package contains %s", file.Path)
		}
	}
	for _, want := range []string{"package.json", "README.md", "dist/index.js", "dist/index.d.ts", "dist/contract.js", "dist/engine.wasm", "dist/LICENSE-go"} {
		if !slices.Contains(files, want) {
			t.Errorf("the package lacks %s: %q", want, files)
		}
	}
	var manifest struct{ Dependencies map[string]string }
	if err := json.Unmarshal([]byte(read(t, filepath.Join(cmd.Dir, "package.json"))), &manifest); err != nil || len(manifest.Dependencies) > 0 {
		t.Errorf("%v: the package depends on %v", err, manifest.Dependencies)
	}
}

// testdata has the code of the seed document and of its unit tests, if the document is here.
func TestSeed(t *testing.T) {
	dir := os.Getenv("SEQUENT_SEEDS")
	if dir == "" {
		t.Skip("SEQUENT_SEEDS does not name the folder of the seed documents")
	}
	document := read(t, filepath.Join(dir, "000-native-tool.md"))
	examples, err := filepath.Glob("testdata/examples/*.ts")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(examples, "testdata/seed.ts", "testdata/seed.test.ts") {
		if !strings.Contains(document, "```typescript\n"+read(t, file)+"```\n") {
			t.Errorf("%s is not the code of the seed document", file)
		}
	}
}
