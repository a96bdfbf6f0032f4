package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sequent-dev/sequent/llm"
	"github.com/sequent-dev/sequent/tool"
)

// maxConcurrent limits how many read-only tools run concurrently.
const maxConcurrent = 8

// A toolbox holds the tools of a run under the names that the model uses.
type toolbox struct {
	offered []llm.Tool
	byName  map[string]tool.Tool
}

func newToolbox(tools []tool.Tool) *toolbox {
	b := &toolbox{byName: make(map[string]tool.Tool)}
	for _, t := range tools {
		name := b.uniqueName(t.Name)
		schema := t.InputSchema
		if len(schema) == 0 {
			schema = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		b.offered = append(b.offered, llm.Tool{Name: name, Description: cmp.Or(t.Description, t.Title), Schema: schema})
		b.byName[name] = t
	}
	return b
}

// uniqueName returns name in a form that providers accept, with a number if it is
// a duplicate.
func (b *toolbox) uniqueName(name string) string {
	const maxLength = 64
	clean := strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && (r == '_' || r == '-' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z') {
			return r
		}
		return '_'
	}, name)
	clean = cmp.Or(clean, "tool")
	for n := 1; ; n++ {
		suffix := ""
		if n > 1 {
			suffix = fmt.Sprintf("_%d", n)
		}
		name := clean[:min(len(clean), maxLength-len(suffix))] + suffix
		if _, taken := b.byName[name]; !taken {
			return name
		}
	}
}

// missing returns the arguments that a schema requires and a call lacks. A schema that is not
// understood requires nothing.
func missing(schema, args json.RawMessage) []string {
	var s struct {
		Required []string `json:"required"`
	}
	var given map[string]json.RawMessage
	if json.Unmarshal(schema, &s) != nil || json.Unmarshal(args, &given) != nil {
		return nil
	}
	return slices.DeleteFunc(s.Required, func(name string) bool { _, ok := given[name]; return ok })
}

func (b *toolbox) names() string {
	names := make([]string, len(b.offered))
	for i, t := range b.offered {
		names[i] = t.Name
	}
	return cmp.Or(strings.Join(names, ", "), "none")
}

// call makes the first of calls, or several if they may run concurrently. If the caller
// breaks out of the loop, call cancels the running tools, waits for them and returns.
func (r *run) call(ctx context.Context, calls []llm.Call) error {
	p := &r.Progress
	if calls[0].ID == p.Begun {
		r.result(called(calls[0], "The program ended during this call. It is not known whether it did anything: "+
			"find out before you call it again."))
		return nil
	}
	calls = calls[:r.concurrent(calls)]
	for _, c := range calls {
		if a := r.tools.byName[c.Name].Annotations; !a.ReadOnly && !a.Idempotent {
			p.Begun = c.ID
		}
		if !r.emit(Event{Calling: &c}) {
			return nil
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	results := make([]chan Called, len(calls))
	for i, c := range calls {
		results[i] = make(chan Called, 1)
		go func() { results[i] <- r.callOne(ctx, c) }()
	}
	for _, result := range results {
		c := <-result // wait for all, also after a cancellation
		if ctx.Err() == nil && !r.result(c) {
			cancel()
		}
	}
	if r.stopped {
		return nil
	}
	return context.Cause(ctx)
}

// concurrent returns how many calls, from the first one on, may run concurrently.
func (r *run) concurrent(calls []llm.Call) int {
	n := 0
	for n < len(calls) && n < maxConcurrent && r.tools.byName[calls[n].Name].Annotations.ReadOnly {
		n++
	}
	return max(n, 1)
}

// result adds the result of a call and yields it. It reports whether to continue.
func (r *run) result(c Called) bool {
	p := &r.Progress
	m := llm.Message{Role: llm.Result, CallID: c.Call.ID, Text: c.Text, Refusal: c.Refusal}
	for _, image := range c.Reply.Images {
		m.Images = append(m.Images, llm.Image(image))
	}
	p.add(m)
	p.Begun = ""
	answer, results := p.latest()
	refused := !slices.ContainsFunc(results, func(m llm.Message) bool { return m.Refusal == "" })
	if refused && !p.Spared && len(unanswered(answer, results)) == 0 {
		p.Spared, p.Step = true, max(p.Step-1, 0)
	}
	return r.emit(Event{Called: &c})
}

// called returns a call that ended without a reply of its tool.
func called(c llm.Call, format string, args ...any) Called {
	text := fmt.Sprintf(format, args...)
	return Called{Call: c, Reply: tool.Reply{Text: text, Failed: true}, Text: text}
}

func (r *run) callOne(ctx context.Context, c llm.Call) Called {
	start := time.Now()
	out := r.reply(ctx, c)
	out.Took = time.Since(start)
	var notes []string
	out.Reply.Images, notes = visible(out.Reply.Images)
	text := cmp.Or(out.Reply.Text, string(out.Reply.JSON))
	text = strings.Join(slices.Concat([]string{text}, out.Reply.Beside, notes), "\n")
	out.Text = shorten(strings.ToValidUTF8(text, "\uFFFD"), maxResult)
	return out
}

// reply calls a tool.
func (r *run) reply(ctx context.Context, c llm.Call) Called {
	t, ok := r.tools.byName[c.Name]
	if !ok {
		out := called(c, "There is no tool %q. The tools are: %s.", c.Name, r.tools.names())
		out.Refusal = fmt.Sprintf("no tool %.40q", c.Name)
		return out
	}
	args, err := tool.Object(json.RawMessage(c.Args))
	if err != nil {
		out := called(c, "%s was not called: %v.", c.Name, err)
		out.Refusal = "arguments that are not a JSON object"
		return out
	}
	ctx, cancel := context.WithTimeout(ctx, toolTimeout)
	defer cancel()
	reply, err := t.Call(ctx, tool.Call{Args: args})
	out := Called{Call: c, Reply: reply, Err: err}
	if err != nil {
		e, ok := errors.AsType[*tool.ProtocolError](err)
		switch {
		case ok:
			out = called(c, "%s was not called: %s %s", c.Name, e.Message, e.Data)
		case errors.Is(ctx.Err(), context.DeadlineExceeded):
			out = called(c, "%s did not answer in time. It is not known what it did.", c.Name)
		default:
			out = called(c, "%s failed, for no reason that you can do anything about.", c.Name)
		}
		if out.Err = err; !ok {
			return out
		}
	}
	if !out.Reply.Failed {
		return out
	}
	out.Refusal = firstLine(cmp.Or(out.Reply.Text, string(out.Reply.JSON), "no reason given"))
	if names := strings.Join(missing(t.InputSchema, args), ", "); names != "" {
		out.Refusal = names + " missing"
		out.Reply.Text = strings.TrimSpace(cmp.Or(out.Reply.Text, string(out.Reply.JSON)) + "\nMissing arguments: " + names + ".")
	}
	return out
}

// firstLine returns the beginning of a text, on one line.
func firstLine(text string) string {
	const most = 80 // characters
	line, _, _ := strings.Cut(strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD")), "\n")
	if r := []rune(line); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return line
}

// Limits on the images of a result, which providers have too.
const (
	maxImages    = 8
	maxImageSize = 5 << 20 // bytes
)

// visible returns the images that a model can be shown, and what it is told about them.
func visible(images []tool.Image) (shown []tool.Image, notes []string) {
	for _, image := range images {
		what := fmt.Sprintf("%s, %d bytes", image.MediaType, len(image.Data))
		switch {
		case !slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, image.MediaType):
			notes = append(notes, fmt.Sprintf("[an image is left out: %.60q is not a type that models see]", image.MediaType))
		case len(image.Data) == 0 || len(image.Data) > maxImageSize:
			notes = append(notes, fmt.Sprintf("[an image is left out: %s, the limit is %d]", what, maxImageSize))
		case len(shown) == maxImages:
			notes = append(notes, fmt.Sprintf("[an image is left out: %s, beyond the first %d]", what, maxImages))
		default:
			shown = append(shown, image)
			notes = append(notes, fmt.Sprintf("[image %d of this result, shown once: %s]", len(shown), what))
		}
	}
	return shown, notes
}

// shorten truncates a text to maxBytes and notes how much is missing.
func shorten(s string, maxBytes int) string {
	if len(s) <= maxBytes {
		return s
	}
	cut := maxBytes
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return fmt.Sprintf("%s\n[%d more bytes are left out]", s[:cut], len(s)-cut)
}
