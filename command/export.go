package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/archive"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/printable"
	"github.com/sequent-dev/sequent/internal/redact"
	"github.com/sequent-dev/sequent/web"
)

func runExport(p *program, ctx context.Context) (result, error) {
	format := cmp.Or(p.format, formatOf(p.output))
	if p.json {
		format = "json"
	}
	finders, err := p.finders()
	if err != nil {
		return nil, err
	}
	key, err := p.signer(p.output)
	if err != nil {
		return nil, err
	}
	s, e, err := p.session(ctx, p.args)
	if err != nil {
		return nil, err
	}
	if f := s.Fault(); f != nil {
		p.tell("%s is not what was recorded: %s.", printable.Line(string(s.ID())), f)
	}
	h, entries, err := e.Entries(ctx, s.ID(), sequent.Position{})
	if err != nil {
		return nil, err
	}
	var masked []redact.Finding
	if len(finders) > 0 {
		if h, entries, masked, err = redact.Session(ctx, h, entries, finders...); err != nil {
			return nil, err
		}
		p.reportRedacted(h.ID, masked)
		if s, err = redact.Snapshot(ctx, h, entries); err != nil {
			return nil, err
		}
	}
	var text string
	switch format {
	case "json":
		text = string(archive.Log(h, entries))
	case "html":
		file, err := web.File(ctx, s, masked)
		if err != nil {
			return nil, err
		}
		text = string(file)
	case "mermaid":
		text = archive.Mermaid(s) // says itself what it lacks
	default:
		text = archive.Markdown(s)
	}
	if err := p.write(p.output, text); err != nil || key == nil {
		return nil, err
	}
	return nil, app.SignFile(p.output, key)
}

// finders returns what finds the texts to mask.
func (p *program) finders() (finders []redact.Finder, err error) {
	if len(p.redact) > 0 {
		find, err := redact.Expressions(p.redact)
		if e, ok := errors.AsType[*sequent.Error](err); ok {
			return nil, &usageError{msg: "invalid value for --redact: " + e.Msg, fix: e.Fix}
		}
		finders = append(finders, find)
	}
	if p.secrets {
		finders = append(finders, redact.Secrets())
	}
	return finders, nil
}

// reportRedacted lists on standard error what was masked.
func (p *program) reportRedacted(id sequent.ID, found []redact.Finding) {
	total := 0
	for _, f := range found {
		where := "session " + printable.Line(string(id))
		if f.Thought > 0 {
			where += fmt.Sprintf(", thought %d", f.Thought)
		}
		p.tell("redacted  %s, %s: %s, %d×", where, printable.Line(f.Field), f.Pattern, f.Count)
		total += f.Count
	}
	p.tell("%s redacted.", printable.Count(total, "text", "texts"))
}

func formatOf(file string) string {
	switch strings.ToLower(filepath.Ext(file)) {
	case ".json":
		return "json"
	case ".html", ".htm":
		return "html"
	case ".mmd", ".mermaid":
		return "mermaid"
	}
	return "md"
}
