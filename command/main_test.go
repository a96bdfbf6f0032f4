package command

import (
	"database/sql"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"

	"github.com/sequent-dev/sequent/llm/llmtest"
)

var update = flag.Bool("update", false, "rewrite golden output and docs/reference")

func TestMain(m *testing.M) {
	cobra.EnableCommandSorting = false // as in Main
	testscript.Main(m, map[string]func(){"sequent": func() { os.Exit(Main(Config{})) }, "mcp": mcpClient})
}

// TestScript runs the scripts in testdata/script, each with a new home directory.
// Additional commands are:
//
//	exits CODE program args...   like exec, but checks the exit code
//	capture NAME REGEXP          set a variable to the first group of a match in the last output
//	edit FILE OLD NEW            replace a text in a file
//	sql FILE STATEMENTS          change a SQLite store behind the program's back
//	server args...               start sequent serve --http on a free port; set URL and HOSTPORT
//	stopserver                   send SIGTERM to the server and check that it exits with code 0
//	model FILE                   start a scripted language model and set the variables of all providers
//	asked N                      check the number of requests to the model, and that no key was printed
//	waitasked N                  wait for N requests to the model
//	exec mcp [flags] URL METHOD [NAME] [JSON]   send a request to a server
func TestScript(t *testing.T) { testscript.Run(t, scripts("script")) }

// scripts returns the parameters for the scripts in a folder of testdata.
func scripts(folder string) testscript.Params {
	return testscript.Params{
		Dir:           filepath.Join("testdata", folder),
		UpdateScripts: *update,
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			for _, v := range [][2]string{
				{"HOME", home}, {"USERPROFILE", home},
				{"XDG_DATA_HOME", filepath.Join(home, "data")}, {"LocalAppData", filepath.Join(home, "data")},
				{"GORACE", "atexit_sleep_ms=0"}, // otherwise every process sleeps for a second at its end
				{"LANG", "C.UTF-8"}, {"LC_ALL", ""}, {"LC_CTYPE", ""}, {"NO_COLOR", ""},
			} {
				env.Setenv(v[0], v[1])
			}
			program, err := exec.LookPath("sequent")
			if err != nil {
				return err
			}
			env.Setenv("PROGRAM", program)
			env.Setenv("XDG_CONFIG_HOME", "") // clients of the person who runs the test
			env.Values[serverKey{}] = new(webServer)
			env.Values[modelKey{}] = new(*llmtest.Server)
			// A session with three branches and six revisions, for several scripts.
			session, err := os.ReadFile(filepath.Join("testdata", "double.json"))
			if err != nil {
				return err
			}
			return errors.Join(os.WriteFile(filepath.Join(env.WorkDir, "double.json"), session, 0o600), os.MkdirAll(home, 0o700))
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits":      exits,
			"capture":    capture,
			"edit":       edit,
			"sql":        changeStore,
			"server":     startServer,
			"stopserver": stopServer,
			"model":      startModel,
			"asked":      asked,
			"waitasked":  waitAsked,
		},
	}
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE program args...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("%q: got exit code %d, want %d", args[1:], got, want)
	}
}

func edit(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: edit FILE OLD NEW")
	}
	text := ts.ReadFile(args[0])
	if !strings.Contains(text, args[1]) {
		ts.Fatalf("%q is not in %s", args[1], args[0])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.ReplaceAll(text, args[1], args[2])), 0o600))
}

func changeStore(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: sql FILE STATEMENTS")
	}
	db, err := sql.Open("sqlite", ts.MkAbs(args[0]))
	ts.Check(err)
	result, err := db.Exec(args[1])
	if err == nil {
		var n int64
		if n, err = result.RowsAffected(); err == nil && n == 0 {
			err = errors.New("no row has changed")
		}
	}
	ts.Check(errors.Join(err, db.Close()))
}

func capture(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: capture NAME REGEXP")
	}
	m := regexp.MustCompile(args[1]).FindStringSubmatch(ts.ReadFile("stdout"))
	if len(m) < 2 {
		ts.Fatalf("the output does not match %s", args[1])
	}
	ts.Setenv(args[0], m[1])
}
