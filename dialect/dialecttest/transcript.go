package dialecttest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/tool"
)

// runFile runs one transcript.
func runFile(t *testing.T, cfg Config, file string) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(archive.Comment) == 0 {
		t.Error("the transcript has no comment")
	}
	for _, exclusive := range []bool{false, true} {
		name := "shared scopes"
		if exclusive {
			name = "exclusive scopes"
			if *update || slices.ContainsFunc(archive.Files, func(f txtar.File) bool { return f.Name == "restart" }) {
				continue // an exclusive scope ends with its process
			}
		}
		r := &run{
			world:    newWorld(t, cfg, sequent.NewMemoryStore()),
			captures: make(captures), scope: "test", exclusive: exclusive, update: *update,
		}
		t.Run(name, func(t *testing.T) {
			out := r.play(t, archive.Files)
			if !r.update || t.Failed() {
				return
			}
			if err := os.WriteFile(file, txtar.Format(&txtar.Archive{Comment: archive.Comment, Files: out}), 0o644); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// A run is one execution of a transcript.
type run struct {
	*world
	captures  captures
	scope     string // of steps that name none
	exclusive bool
	update    bool
	replaced  []byte // with -update: new content of the current section
}

// A result is the outcome of a step, in the sections that expect it.
type result struct {
	sections []txtar.File
	call     string // the arguments
}

// play runs the steps and compares the results. It returns the transcript with the actual
// results.
func (r *run) play(t *testing.T, files []txtar.File) (out []txtar.File) {
	t.Helper()
	for i := 0; i < len(files); {
		step := files[i]
		r.clock.pass(time.Second)
		res, err := r.step(t, step)
		if err != nil {
			t.Fatalf("-- %s --\n%s%v", step.Name, step.Data, err)
		}
		if r.replaced != nil {
			step.Data, r.replaced = r.replaced, nil
		}
		out = append(out, step)
		i++
		var want []txtar.File
		for i < len(files) && expects(files[i].Name) {
			want = append(want, files[i])
			i++
		}
		out = append(out, r.compare(t, step, res, want)...)
		if t.Failed() && !r.update {
			t.FailNow() // later steps depend on it
		}
	}
	return out
}

// expects reports whether a section is an expectation.
func expects(section string) bool {
	switch word, _, _ := strings.Cut(section, " "); word {
	case "reply", "text", "refusal", "json", "error", "document", "message", "values", "beside":
		return true
	default:
		return false
	}
}

// compare compares a result with the sections that expect it, and returns those that do.
func (r *run) compare(t *testing.T, step txtar.File, res result, want []txtar.File) []txtar.File {
	t.Helper()
	got := res.sections
	isJSON := func(f txtar.File) bool { return f.Name == "json" }
	if len(got) > 0 && got[0].Name == "refusal" && !slices.ContainsFunc(want, isJSON) {
		got = slices.DeleteFunc(got, isJSON) // optional: it repeats the refusal
	}
	a, b := sections(got), sections(want)
	if r.update {
		r.captures.discover(a, res.call)
	}
	if r.captures.match(a, b) {
		return want
	}
	if !r.update {
		t.Errorf("-- %s --\n%sgot:\n%swant:\n%s", step.Name, step.Data, r.captures.name(a), b)
	}
	for i := range got {
		got[i].Data = section(r.captures.name(string(got[i].Data)))
	}
	return got
}

// sections returns sections as one text.
func sections(files []txtar.File) string {
	return string(txtar.Format(&txtar.Archive{Files: files}))
}

// text returns a section's data without the line end that the format adds.
func text(f txtar.File) string { return strings.TrimSuffix(string(f.Data), "\n") }

// section returns a text as the data of a section.
func section(s string) []byte {
	if s != "" && !strings.HasSuffix(s, "\n") {
		s += "\n"
	}
	return []byte(s)
}

// A line is a section's name, parsed.
type line struct {
	verb    string
	args    []string
	options map[string]string
}

// parseLine parses "verb arg… option=value…".
func parseLine(name string) line {
	words := strings.Fields(name)
	l := line{verb: words[0], options: make(map[string]string)}
	for _, w := range words[1:] {
		key, value, ok := strings.Cut(w, "=")
		if ok && slices.Contains([]string{"scope", "process", "project", "agent", "owner", "dialect", "from"}, key) {
			l.options[key] = value
		} else {
			l.args = append(l.args, w)
		}
	}
	return l
}

func (l line) arg(i int) string {
	if i < len(l.args) {
		return l.args[i]
	}
	return ""
}

func (r *run) caller(l line) tool.Caller {
	c := tool.Caller{Owner: l.options["owner"], Agent: l.options["agent"], Scope: tool.Scope{Name: r.scope, Exclusive: r.exclusive}}
	if s, ok := l.options["scope"]; ok {
		c.Scope.Name = s
	}
	if s, ok := l.options["process"]; ok {
		c.Scope.Name, c.Scope.Exclusive = s, true
	}
	c.Scope.Project = l.options["project"]
	if c.Scope.Name == "-" {
		c.Scope = tool.Scope{}
	}
	return c
}

// step runs a section. An error is a mistake in the transcript.
func (r *run) step(t *testing.T, f txtar.File) (result, error) {
	t.Helper()
	l := parseLine(r.captures.expand(f.Name))
	body := r.captures.expand(text(f))
	caller := r.caller(l)
	ctx := sequent.WithOrigin(t.Context(), func() sequent.Origin {
		return sequent.Origin{Project: l.options["project"], Agent: l.options["agent"]}
	})
	switch l.verb {
	case "call":
		return r.call(ctx, t, l.arg(0), body, caller)
	case "read":
		return r.read(ctx, l.arg(0), caller)
	case "prompt":
		return r.prompt(ctx, l.arg(0), body, caller)
	case "complete":
		return r.complete(ctx, l.arg(0), l.arg(1), caller)
	case "given":
		return result{}, r.given(ctx, l, body)
	case "delete":
		return result{}, r.engine.Owned(caller.Owner).Delete(ctx, sequent.ID(l.arg(0)))
	case "note":
		seq, err := strconv.Atoi(l.arg(1))
		if err != nil {
			return result{}, err
		}
		_, err = r.engine.Owned(caller.Owner).Update(ctx, sequent.ID(l.arg(0)), func(c *sequent.Change) error {
			return c.AddNote(sequent.Note{Seq: seq, Kind: sequent.NoteKind(l.arg(2)), Text: body, From: l.options["from"]})
		})
		return result{}, err
	case "wait":
		d, err := time.ParseDuration(l.arg(0))
		r.clock.pass(d)
		return result{}, err
	case "restart":
		r.restart(t)
		return result{}, nil
	case "put":
		return result{}, r.put(strings.Join(l.args, " "), body)
	case "log", "list", "file", "stderr":
		return result{}, r.inspect(t, l, f)
	default:
		return result{}, fmt.Errorf("there is no step %q", l.verb)
	}
}

func (r *run) call(ctx context.Context, t *testing.T, name, args string, caller tool.Caller) (result, error) {
	t.Helper()
	reply, err := r.world.call(ctx, t, name, args, caller)
	res := result{call: args}
	add := func(name, s string) { res.sections = append(res.sections, txtar.File{Name: name, Data: section(s)}) }
	switch p, protocol := errors.AsType[*tool.ProtocolError](err); {
	case protocol:
		add("error", fmt.Sprintf("%d %s\n%s", p.Code, p.Message, p.Data))
	case err != nil:
		add("error", err.Error())
	case reply.Failed:
		add("refusal", reply.Text)
		if reply.JSON != nil {
			add("json", string(reply.JSON))
		}
	case string(reply.JSON) == reply.Text:
		add("reply", reply.Text)
	default:
		add("text", reply.Text)
		if reply.JSON != nil {
			add("json", string(reply.JSON))
		}
	}
	if len(reply.Beside) > 0 {
		add("beside", strings.Join(reply.Beside, "\n"))
	}
	for _, s := range res.sections {
		if len(txtar.Parse(s.Data).Files) > 0 {
			return res, fmt.Errorf("a transcript cannot hold this reply, it has a marker line:\n%s", s.Data)
		}
	}
	return res, nil
}

func (r *run) read(ctx context.Context, uri string, caller tool.Caller) (result, error) {
	for _, res := range r.dialect.Resources {
		if res.URI == uri {
			s, err := res.Read(ctx, caller)
			return outcome("document", s, err), nil
		}
	}
	for _, tmpl := range r.dialect.Templates {
		before, rest, _ := strings.Cut(tmpl.URI, "{")
		name, after, _ := strings.Cut(rest, "}")
		value, ok := strings.CutPrefix(uri, before)
		value, ends := strings.CutSuffix(value, after)
		if ok && ends && value != "" && (strings.HasPrefix(name, "+") || !strings.Contains(value, "/")) {
			value, err := url.PathUnescape(value)
			if err != nil {
				return result{}, err
			}
			s, err := tmpl.Read(ctx, caller, value)
			return outcome("document", s, err), nil
		}
	}
	return result{}, fmt.Errorf("the dialect has no resource %s", uri)
}

func (r *run) prompt(ctx context.Context, name, body string, caller tool.Caller) (result, error) {
	i := slices.IndexFunc(r.dialect.Prompts, func(p dialect.Prompt) bool { return p.Name == name })
	if i < 0 {
		return result{}, fmt.Errorf("the dialect has no prompt %s", name)
	}
	args := make(map[string]string)
	if body != "" {
		if err := json.Unmarshal([]byte(body), &args); err != nil {
			return result{}, err
		}
	}
	s, err := r.dialect.Prompts[i].Get(ctx, caller, args)
	return outcome("message", s, err), nil
}

func (r *run) complete(ctx context.Context, what, prefix string, caller tool.Caller) (result, error) {
	var find func(context.Context, tool.Caller, string) ([]string, error)
	for _, tmpl := range r.dialect.Templates {
		if tmpl.URI == what {
			find = tmpl.Complete
		}
	}
	for _, p := range r.dialect.Prompts {
		for _, a := range p.Arguments {
			if p.Name+"."+a.Name == what {
				find = a.Complete
			}
		}
	}
	if find == nil {
		return result{}, fmt.Errorf("nothing completes %s", what)
	}
	values, err := find(ctx, caller, prefix)
	return outcome("values", strings.Join(values, "\n"), err), nil
}

func outcome(name, s string, err error) result {
	if err != nil {
		name, s = "error", string(sequent.CodeOf(err))+": "+err.Error()
	}
	return result{sections: []txtar.File{{Name: name, Data: section(s)}}}
}

// put writes a file below the dialect's directory, with the time of the transcript.
func (r *run) put(name, body string) error {
	file := filepath.Join(r.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(file, []byte(body+"\n"), 0o600); err != nil {
		return err
	}
	return os.Chtimes(file, r.clock.read(), r.clock.read())
}

// given records a session as another dialect would.
func (r *run) given(ctx context.Context, l line, body string) error {
	_, err := r.engine.Owned(l.options["owner"]).Begin(ctx, sequent.ID(l.arg(0)), func(c *sequent.Change) error {
		c.BeginIn("", l.options["dialect"])
		lines := strings.Split(body, "\n")
		for i, text := range lines {
			if _, err := c.Append(sequent.Draft{Number: i + 1, Total: len(lines), Text: text}); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}
