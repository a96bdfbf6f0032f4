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
	needs   map[string][]string // required arguments
}

func newToolbox(tools []tool.Tool) *toolbox {
	b := &toolbox{byName: make(map[string]tool.Tool), needs: make(map[string][]string)}
	for _, t := range tools {
		name := b.uniqueName(t.Name)
		schema := t.InputSchema
		if len(schema) == 0 {
			schema = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		b.offered = append(b.offered, llm.Tool{Name: name, Description: cmp.Or(t.Description, t.Title), Schema: schema})
		b.byName[name], b.needs[name] = t, required(schema)
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

// required returns the names of the arguments that a schema requires.
func required(schema json.RawMessage) []string {
	var s struct {
		Required []string `json:"required"`
	}
	_ = json.Unmarshal(schema, &s) // a schema that is not understood requires nothing
	return s.Required
}

// missing returns the required arguments that a call lacks.
func (b *toolbox) missing(name string, args json.RawMessage) (names []string) {
	var given map[string]json.RawMessage
	if json.Unmarshal(args, &given) != nil {
		return nil
	}
	for _, n := range b.needs[name] {
		if _, ok := given[n]; !ok {
			names = append(names, n)
		}
	}
	return names
}

func (b *toolbox) names() string {
	names := make([]string, len(b.offered))
	for i, t := range b.offered {
		names[i] = t.Name
	}
	return cmp.Or(strings.Join(names, ", "), "none")
}

type callKey struct{}

// CallOf returns the model's call from the context that a tool receives.
func CallOf(ctx context.Context) (llm.Call, bool) {
	c, ok := ctx.Value(callKey{}).(llm.Call)
	return c, ok
}

// call makes calls and adds their results to the conversation. If the caller
// breaks out of the loop, call cancels the running tools, waits for them and
// returns.
func (r *run) call(ctx context.Context, calls []llm.Call) ([]Called, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	results := make([]Called, len(calls))
	for first := 0; first < len(calls); {
		n := r.groupSize(calls[first:])
		if err := r.callGroup(ctx, cancel, calls[first:first+n], results[first:]); err != nil || r.stopped {
			return nil, err
		}
		first += n
	}
	for _, c := range results {
		m := llm.Message{Role: llm.Result, CallID: c.Call.ID, Text: c.Text, Refusal: c.Refusal}
		for _, image := range c.Reply.Images {
			m.Images = append(m.Images, llm.Image(image))
		}
		r.messages = append(r.messages, m)
	}
	return results, nil
}

// groupSize returns how many calls, from the first one on, may run concurrently.
func (r *run) groupSize(calls []llm.Call) int {
	n := 0
	for n < len(calls) && n < maxConcurrent && r.tools.byName[calls[n].Name].Annotations.ReadOnly {
		n++
	}
	return max(n, 1)
}

func (r *run) callGroup(ctx context.Context, cancel func(), calls []llm.Call, results []Called) error {
	for _, c := range calls {
		a := r.tools.byName[c.Name].Annotations
		if !r.emit(Event{Calling: &Calling{Call: c, Repeatable: a.ReadOnly || a.Idempotent}}) {
			return nil
		}
	}
	done := make(chan int)
	for i, c := range calls {
		go func() {
			results[i] = r.callOne(ctx, c)
			done <- i
		}()
	}
	for range calls {
		i := <-done // wait for all, also after a cancellation
		if ctx.Err() == nil && !r.emit(Event{Called: &results[i]}) {
			cancel()
		}
	}
	if r.stopped {
		return nil
	}
	return context.Cause(ctx)
}

func (r *run) callOne(ctx context.Context, c llm.Call) Called {
	start := time.Now()
	called := Called{Call: c}
	called.Reply, called.Refusal, called.Err = r.reply(ctx, c)
	called.Took = time.Since(start)
	var notes []string
	called.Reply.Images, notes = visible(called.Reply.Images)
	text := cmp.Or(called.Reply.Text, string(called.Reply.JSON))
	text = strings.Join(slices.Concat([]string{text}, called.Reply.Beside, notes), "\n")
	called.Text = shorten(strings.ToValidUTF8(text, "\uFFFD"), maxResult)
	return called
}

// reply calls a tool. Refusal is why the tool did nothing; empty if that is not so.
func (r *run) reply(ctx context.Context, c llm.Call) (reply tool.Reply, refusal string, err error) {
	failed := func(format string, args ...any) tool.Reply {
		return tool.Reply{Text: fmt.Sprintf(format, args...), Failed: true}
	}
	t, ok := r.tools.byName[c.Name]
	if !ok {
		return failed("There is no tool %q. The tools are: %s.", c.Name, r.tools.names()), fmt.Sprintf("no tool %.40q", c.Name), nil
	}
	args, err := tool.Object(json.RawMessage(c.Args))
	if err != nil {
		return failed("%s was not called: %v.", c.Name, err), "arguments that are not a JSON object", nil
	}
	ctx, cancel := context.WithTimeout(context.WithValue(ctx, callKey{}, c), toolTimeout)
	defer cancel()
	reply, err = t.Call(ctx, tool.Call{Args: args})
	if err == nil && !reply.Failed {
		return reply, "", nil
	}
	if err != nil {
		e, ok := errors.AsType[*tool.ProtocolError](err)
		switch {
		case ok:
			reply = failed("%s was not called: %s %s", c.Name, e.Message, e.Data)
		case errors.Is(ctx.Err(), context.DeadlineExceeded):
			return failed("%s did not answer in time. It is not known what it did.", c.Name), "", err
		default:
			return failed("%s failed, for no reason that you can do anything about.", c.Name), "", err
		}
	}
	refusal = firstLine(cmp.Or(reply.Text, string(reply.JSON), "no reason given"))
	if missing := r.tools.missing(c.Name, args); len(missing) > 0 {
		names := strings.Join(missing, ", ")
		refusal = names + " missing"
		reply.Text = strings.TrimSpace(cmp.Or(reply.Text, string(reply.JSON)) + "\nMissing arguments: " + names + ".")
	}
	return reply, refusal, err
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
			notes = append(notes, fmt.Sprintf("[image %d of this result: %s]", len(shown), what))
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
