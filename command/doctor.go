package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/diagnosis"
	"github.com/sequent-dev/sequent/internal/draw"
	"github.com/sequent-dev/sequent/internal/printable"
	"github.com/sequent-dev/sequent/setup"
)

// An examination is what sequent doctor has found.
type examination struct {
	OK       bool                `json:"ok"`
	Findings []diagnosis.Finding `json:"findings"`
}

func runDoctor(p *program, ctx context.Context) (result, error) {
	if p.try && p.requireTerminal() != nil {
		return nil, &usageError{msg: "--try asks before it starts or contacts something, which requires a terminal", fix: "run it on a terminal, or omit --try"}
	}
	var own diagnosis.Report
	own.OK("program", "%s", buildInfo())
	environment(&own, p.cmd.Root())
	found := &examination{Findings: own.Findings}
	for _, look := range []func() ([]diagnosis.Finding, error){
		func() ([]diagnosis.Finding, error) { return app.Diagnose(ctx, p.config()) },
		func() ([]diagnosis.Finding, error) { return app.DiagnoseTokens(p.serving.HTTP.Tokens) },
		func() ([]diagnosis.Finding, error) { return app.DiagnoseOIDC(ctx, p.serving.HTTP.OIDC) },
		func() ([]diagnosis.Finding, error) { return p.examineClients(ctx) },
	} {
		more, err := look()
		if err != nil {
			return nil, err
		}
		found.Findings = append(found.Findings, more...)
	}
	found.OK = !slices.ContainsFunc(found.Findings, func(f diagnosis.Finding) bool { return f.Status == diagnosis.Fail })
	if !found.OK {
		return found, exit(exitFailure)
	}
	return found, nil
}

// environment reports variables that no flag has.
func environment(r *diagnosis.Report, root *cobra.Command) {
	known := map[string]bool{secretVariable: true, tokenVariable: true}
	var learn func(c *cobra.Command)
	learn = func(c *cobra.Command) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) { known[variable(f.Name)] = true })
		for _, sub := range c.Commands() {
			learn(sub)
		}
	}
	learn(root)
	for _, entry := range os.Environ() {
		name, value, _ := strings.Cut(entry, "=")
		if strings.HasPrefix(name, "SEQUENT_") && value != "" && !known[name] {
			r.Warn("environment", "unset it, or use the name of a flag, such as SEQUENT_STORE for --store", "unknown: %s", name)
		}
	}
}

func (e *examination) text(pg *page) {
	width, counts := 0, map[diagnosis.Status]int{}
	for _, f := range e.Findings {
		width = max(width, draw.Width(f.Check))
		counts[f.Status]++
	}
	roles := map[diagnosis.Status]draw.Role{diagnosis.OK: draw.Final, diagnosis.Warn: draw.Tag, diagnosis.Fail: draw.Newest}
	for _, f := range e.Findings {
		lead := draw.Line{
			{Text: fmt.Sprintf("%-4s  ", f.Status), Role: roles[f.Status]},
			{Text: f.Check + strings.Repeat(" ", width-draw.Width(f.Check)+2), Role: draw.Title},
		}
		pg.add(draw.Beside(lead, f.Detail, draw.Text, pg.Options)...)
		if f.Fix != "" {
			pg.beside(strings.Repeat(" ", width+8), "→ "+f.Fix, roles[f.Status])
		}
	}
	switch {
	case counts[diagnosis.Fail] > 0:
		pg.heading(printable.Count(counts[diagnosis.Fail], "check", "checks") + " failed.")
	case counts[diagnosis.Warn] > 0:
		pg.heading("No check failed; " + printable.Count(counts[diagnosis.Warn], "warning", "warnings") + ".")
	default:
		pg.heading("All checks passed.")
	}
}

// A clientEntry is an entry for this server in the file of a client.
type clientEntry struct {
	setup.Server
	client  setup.Client
	file    string
	project bool // the file is one of the working directory, and says what its author wants
}

// examineClients checks the entries for this server in the configuration files of clients,
// for the user and for the project in the working directory. It starts this program and
// connects to servers if the user's own files name them. With try it asks about the others.
func (p *program) examineClients(ctx context.Context) ([]diagnosis.Finding, error) {
	files, err := p.clientFiles()
	if err != nil {
		return nil, err
	}
	var report diagnosis.Report
	seen := make(map[string]bool) // clients may share a file
	for _, c := range setup.Clients() {
		for _, project := range []bool{false, true} {
			file := files.System.File(c, project)
			if file == "" || seen[file] {
				continue
			}
			seen[file] = true
			entries, err := files.Entries(c, project)
			if e, ok := errors.AsType[*setup.FileError](err); ok {
				report.Warn("client", "correct it; "+c.Name+" may ignore the whole file",
					"%s has a file that cannot be read: %v (%s)", c.Name, e.Err, shortPath(file))
				continue
			}
			for _, name := range slices.Sorted(maps.Keys(entries)) {
				if s := entries[name]; name == setup.EntryName || isProgram(s.Command) {
					if err := p.examineEntry(ctx, &report, clientEntry{s, c, file, project}); err != nil {
						return nil, err
					}
				}
			}
		}
	}
	if store := p.projectStore(); store != "" && p.store == "" {
		report.OK("project", "sessions of this project are in %s; run sequent doctor --store %[1]s to check them", store)
	}
	return report.Findings, nil
}

// examineEntry checks one entry, which is to start a program of the version of this one.
func (p *program) examineEntry(ctx context.Context, report *diagnosis.Report, e clientEntry) error {
	says := fmt.Sprintf("%s (%s) %s", e.client.Name, shortPath(e.file), e.says())
	fix := "run sequent setup --client " + e.client.ID
	if e.URL == "" && (!e.project || e.Command == setup.EntryName) { // a path of a project may lead to another machine
		_, err := exec.LookPath(e.Command)
		switch {
		case err != nil && strings.ContainsAny(e.Command, `/\`):
			report.Fail("client", fix, "%s, which does not exist or is not executable", says)
			return nil
		case err != nil: // the client may have another PATH
			report.Warn("client", "run sequent setup, which says how to put it there", "%s, which is not on this PATH", says)
			return nil
		}
	}
	switch {
	case e.trusted():
	case p.try:
		yes, err := p.mayTry(ctx, e)
		if err != nil {
			return err
		}
		if !yes {
			report.OK("client", "%s; not tried", says)
			return nil
		}
	case e.Command == setup.EntryName:
		report.OK("client", "%s; not tried, because it is an entry of the project", says)
		return nil
	default:
		report.Warn("client", "read it, or run sequent doctor --try, which asks before it tries it", "%s; not tried, because it is not known to be this program", says)
		return nil
	}
	if e.project {
		e.TokenEnv = ""
	}
	got, err := p.handshake(ctx, e.Server)
	switch version := buildInfo().Version; {
	case errors.Is(err, errNoToken):
		report.Warn("client", "set "+tokenVariable+" here, and in the entry, to test the connection", "%s, but %v", says, err)
	case err != nil && e.URL != "":
		report.Fail("client", "check that the server runs, and the token in "+cmp.Or(e.TokenEnv, "the environment"), "%s, which does not answer: %v", says, err)
	case err != nil:
		report.Fail("client", "run it in a terminal to see what it says, or "+fix, "%s, which does not answer: %v", says, err)
	case got.version != version && e.URL == "":
		report.Warn("client", fix+" with the newer version", "%s, which is %s %s; want %s", says, got.name, got.version, version)
	default:
		report.OK("client", "%s: %s %s, %s", says, got.name, got.version, printable.Count(len(got.tools), "tool", "tools"))
	}
	return nil
}

// says returns what a client does with the entry, exactly, and as text that is safe to print.
func (e clientEntry) says() string {
	if e.URL != "" {
		return "connects to " + visible(e.URL)
	}
	words := []string{"starts", visible(e.Command)}
	for _, word := range e.Args {
		words = append(words, visible(word))
	}
	return strings.Join(words, " ")
}

// visible returns a word in quotes in which all that a terminal does not show is escaped, unless
// it is plain.
func visible(word string) string {
	if isPlain(word, `-_./\:@,+=~`) {
		return word
	}
	return strconv.Quote(word)
}

// trusted reports whether to try an entry without a question: the user's own file names a
// server, or this program or the copy of it that setup makes. A path must be absolute: in a
// relative one the working directory chooses the program.
func (e clientEntry) trusted() bool {
	if e.project || e.URL != "" {
		return !e.project
	}
	found, err := exec.LookPath(e.Command)
	exe, _ := os.Executable()
	data, _ := app.DataDir()
	return err == nil && filepath.IsAbs(found) && (sameFile(found, exe) || sameFile(found, setup.ProgramFile(data)))
}

// mayTry shows all that would be started or connected to where it asks.
func (p *program) mayTry(ctx context.Context, e clientEntry) (bool, error) {
	fmt.Fprintln(p.err, visible(shortPath(e.file)), e.says())
	for _, name := range slices.Sorted(maps.Keys(e.Env)) {
		fmt.Fprintf(p.err, "    %s=%s\n", visible(name), visible(e.Env[name]))
	}
	question := "Start it, with your rights and your environment?"
	if e.URL != "" {
		question = "Connect to it, without a token?"
	}
	answer, err := p.answer(ctx, question+" [y/N]")
	return answer == "y" || answer == "yes", err
}

// isProgram reports whether a command is this program by its name.
func isProgram(command string) bool {
	name := command[strings.LastIndexAny(command, `/\`)+1:]
	return strings.TrimSuffix(strings.ToLower(name), ".exe") == "sequent"
}

// projectStore returns the store that an entry of the project in the working directory names,
// as a word of a shell, if it is a file inside the project. Commands say where it is and do not
// open it: a project does not choose what they open.
func (p *program) projectStore() string {
	files, err := p.clientFiles()
	if err != nil {
		return ""
	}
	root, err := os.OpenRoot(files.System.Dir)
	if err != nil {
		return ""
	}
	defer root.Close()
	for _, c := range setup.Clients() {
		s, _, err := files.Read(c, true)
		i := slices.Index(s.Args, "--store") + 1
		if err != nil || i == 0 || i == len(s.Args) {
			continue
		}
		if info, err := root.Stat(s.Args[i]); err == nil && info.Mode().IsRegular() {
			return printable.Line(quoted(s.Args[i]))
		}
	}
	return ""
}
