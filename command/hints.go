package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/lazyregexp"
	"github.com/sequent-dev/sequent/internal/printable"
	"github.com/sequent-dev/sequent/setup"
)

// query returns the query for the sessions that the flags select.
func (p *program) query() sequent.Query {
	q := sequent.Query{AllOwners: p.allOwners, Project: p.inProject()}
	if p.since > 0 {
		q.Since = p.engine.Now().Add(-p.since)
	}
	return q
}

// inProject returns the project whose sessions a command is about, with those that have
// none; empty means all.
func (p *program) inProject() string {
	switch {
	case p.allProjects:
		return ""
	case p.project == "":
		return p.here("").Project
	}
	if info, err := os.Stat(p.project); err == nil && info.IsDir() {
		if project := p.here(p.project).Project; project != "" {
			return project
		}
	}
	return asRecorded(sequent.Origin{Project: p.project}).Project
}

// here returns where a session comes from that is begun in a directory; an empty one is
// the working directory.
func (p *program) here(dir string) sequent.Origin { return asRecorded(app.Workplace(dir)) }

// asRecorded returns an origin as sessions record it.
func asRecorded(o sequent.Origin) sequent.Origin {
	return sequent.OriginOf(sequent.WithOrigin(context.Background(), func() sequent.Origin { return o }))
}

// maxOthers is the number up to which others counts.
const maxOthers = 100

// others returns how many sessions of other projects q leaves out, at most maxOthers.
func (p *program) others(ctx context.Context, q sequent.Query) (int, error) {
	if q.Project == "" {
		return 0, nil
	}
	q.Elsewhere, q.Project, q.Limit = q.Project, "", maxOthers
	page, err := p.engine.Sessions(ctx, q)
	return len(page.Headers), err
}

// elsewhereOf adds to the error of a session that is not here where sessions are.
func (p *program) elsewhereOf(ctx context.Context, err error) error {
	e, ok := errors.AsType[*sequent.Error](err)
	if !ok || e.Code != sequent.CodeSessionNotFound || e.Field != fieldID || e.Fix != "" {
		return err
	}
	clone := *e
	clone.Fix = p.whereSessionsAre(ctx)
	return &clone
}

// whereSessionsAre says what to do if the flags select no sessions, or not the one that was meant.
func (p *program) whereSessionsAre(ctx context.Context) string {
	var hints []string
	if usage, err := p.engine.Owned("").Usage(ctx, sequent.Query{AllOwners: true}); err == nil && !p.allOwners {
		var names []string
		for _, u := range usage {
			if u.Owner != p.engine.Owner() && u.Sessions > 0 {
				names = append(names, fmt.Sprintf("%s (%d)", cmp.Or(printable.Line(u.Owner), p.nobody()), u.Sessions))
			}
		}
		if len(names) > 0 {
			hints = append(hints, "pass --owner NAME or --all-owners; owners with sessions: "+some(names))
		}
	}
	q := sequent.Query{AllOwners: p.allOwners, Project: p.inProject(), Limit: 1}
	n, _ := p.others(ctx, q)
	page, _ := p.engine.Sessions(ctx, q)
	switch {
	case n > 0:
		hints = append(hints, "pass --all-projects for "+printable.Count(n, "session", "sessions")+" in other projects than "+printable.Line(q.Project))
	case len(page.Headers) > 0:
		hints = append(hints, "run sequent list for the ids of sessions")
	case len(hints) == 0 && p.remote != nil:
		hints = append(hints, "run sequent setup --team "+quoted(p.remote.base.JoinPath("mcp").String())+" to connect your editor or agent")
	case len(hints) == 0:
		hints = append(hints, "run sequent demo to record one, or run sequent setup to add the server to your editor or agent")
	}
	return runnable(strings.Join(hints, "; "))
}

// nobody names the owner without a name: the local user of the store's machine.
func (p *program) nobody() string {
	if p.remote != nil {
		return "(server)"
	}
	return "(you)"
}

// sentence returns text as a sentence.
func sentence(text string) string { return strings.ToUpper(text[:1]) + text[1:] + "." }

// some returns the first of names, and how many more there are.
func some(names []string) string {
	const most = 12
	if len(names) > most {
		names = append(names[:most:most], fmt.Sprintf("and %d more", len(names)-most))
	}
	return strings.Join(names, ", ")
}

// next returns the command line with which a person runs a subcommand on the same sessions, as
// it can be pasted into a shell. Flags that the environment has set are left out.
func (p *program) next(words ...string) string {
	words = slices.Clip(words)
	switch address, _, _ := strings.Cut(p.server, "#"); { // without a key
	case address != "" && !slices.Contains(p.inherited, "server"):
		words = append(words, "--server", address)
	case address == "" && p.store != "" && !slices.Contains(p.inherited, "store"):
		words = append(words, "--store", withoutSecret(p.store))
	}
	var line strings.Builder
	line.WriteString(selfName())
	for _, word := range words {
		line.WriteString(" " + quoted(word))
	}
	return line.String()
}

// nextFor is next for the sessions of an owner.
func (p *program) nextFor(owner string, words ...string) string {
	if owner != p.self && !slices.Contains(p.inherited, "owner") {
		words = append(slices.Clip(words), "--owner", owner)
	}
	return p.next(words...)
}

// advised matches the beginning of a command that a sentence of ours tells to run.
var advised = lazyregexp.New("([Rr]un |`)sequent ")

// runnable returns a sentence of ours in which "run sequent …" names the command that starts
// this program.
func runnable(sentence string) string {
	return advised().ReplaceAllStringFunc(sentence, func(begin string) string {
		return strings.TrimSuffix(begin, "sequent ") + selfName() + " " // which looks into the PATH
	})
}

// selfName returns the command that starts this program in a shell. Under go run, which
// deletes the binary when it exits, it is another go run in the module's directory.
func selfName() string {
	exe, err := os.Executable()
	if err != nil {
		return "sequent"
	}
	if setup.Temporary(exe, os.Getenv("GOCACHE")) {
		pkg, module := modulePath+"/cmd/sequent", modulePath
		if info, ok := debug.ReadBuildInfo(); ok && info.Main.Path != "" && info.Main.Path != modulePath { // has dialects of its own
			pkg, module = info.Path, info.Main.Path
		}
		if path := inSource(module); path != "" {
			return "go run " + quoted(path+strings.TrimPrefix(pkg, module))
		}
	}
	if found, err := exec.LookPath("sequent"); err == nil && sameFile(found, exe) {
		return "sequent"
	}
	return quoted(exe)
}

// inSource returns the way from the working directory to the root of a module's source, such as
// "." or "../..", as the go command takes it; empty outside of the source.
func inSource(module string) string {
	dir, err := os.Getwd()
	for way := "."; err == nil; {
		text, missing := os.ReadFile(filepath.Join(dir, "go.mod"))
		switch parent := filepath.Dir(dir); {
		case missing == nil && strings.HasPrefix(string(text), "module "+module+"\n"):
			return way
		case missing == nil || parent == dir:
			return ""
		default:
			dir, way = parent, strings.TrimPrefix(way+"/..", "./")
		}
	}
	return ""
}

// shortPath replaces the home directory with ~.
func shortPath(path string) string {
	home, err := os.UserHomeDir()
	if rest, ok := strings.CutPrefix(path, home); err == nil && ok && rest != "" && os.IsPathSeparator(rest[0]) {
		return "~" + rest
	}
	return path
}

func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	two, err := os.Stat(b)
	return err == nil && os.SameFile(one, two)
}

// quoted quotes a word for the shell in which a person pastes it. Words come from file names
// and models, so nothing in them may be expanded.
func quoted(word string) string {
	if runtime.GOOS == "windows" {
		return quotedForWindows(word)
	}
	if isPlain(word, "-_./:@,+=") {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// quotedForWindows quotes a word for PowerShell and, where its quotes suffice, for cmd: double
// quotes mean the same in both, unless they contain what one of them expands.
func quotedForWindows(word string) string {
	switch {
	case isPlain(word, `-_./\:+=`):
		return word
	case strings.ContainsAny(word, "\"$`%!\u201c\u201d\u201e"):
		// PowerShell ends such a string at typographic quotes, too.
		for _, quote := range []string{"'", "\u2018", "\u2019", "\u201a", "\u201b"} {
			word = strings.ReplaceAll(word, quote, quote+quote)
		}
		return "'" + word + "'"
	}
	end := len(word) - len(strings.TrimRight(word, `\`))
	return `"` + word + strings.Repeat(`\`, end) + `"` // a single one would escape the quote
}

// isPlain reports whether a word consists of letters, digits and some signs, so that it needs
// no quotes. Within a word # begins no comment.
func isPlain(word, signs string) bool {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(signs, r)
	}
	return word != "" && plain(rune(word[0])) && !strings.ContainsFunc(word, func(r rune) bool { return !plain(r) && r != '#' })
}
