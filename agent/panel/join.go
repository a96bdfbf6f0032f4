package panel

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/llm"
)

const joining = "Several perspectives have looked at a problem. Join them: answer the problem, and say in points what the answer rests on, " +
	"where the perspectives agree, and where they do not. Each point names, in refs, the thoughts that it is drawn from, as they are " +
	"written before them, such as critical#3. Use every perspective."

var joined = llm.Schema{Name: "synthesis", JSON: json.RawMessage(`{"type":"object","properties":{"answer":{"type":"string","minLength":1},` +
	`"points":{"type":"array","items":{"type":"object","properties":{"text":{"type":"string"},"refs":{"type":"array","items":{"type":"string"}}},` +
	`"required":["text","refs"],"additionalProperties":false}}},"required":["answer","points"],"additionalProperties":false}`)}

// synthesise asks for the synthesis, checks it and completes the session with it.
func (r *run) synthesise(ctx context.Context) error {
	s, err := r.Engine.Session(ctx, r.id)
	if err != nil {
		return err
	}
	refs := make(map[string]string) // reference → perspective
	var b strings.Builder
	fmt.Fprintf(&b, "The problem:\n\n%s\n", r.st.Problem)
	var failures []View
	for _, v := range r.st.Views {
		if v.State != Ended {
			v.Messages, v.Instructions = nil, ""
			failures = append(failures, v)
		}
		if v.State == Failed {
			continue
		}
		fmt.Fprintf(&b, "\nThe perspective %s:\n", v.Name)
		for t := range s.All() {
			if t.Branch == v.Name {
				ref := fmt.Sprintf("%s#%d", v.Name, t.Number)
				refs[ref] = v.Name
				fmt.Fprintf(&b, "%s: %s\n", ref, t.Text)
			}
		}
	}
	if len(refs) == 0 {
		return &Error{CodeFailed, "every perspective failed, the first because " + r.st.Views[0].Why, "resume to try again, or choose another model"}
	}
	messages := []llm.Message{{Role: llm.System, Text: joining}, {Role: llm.User, Text: b.String()}}
	var out Synthesis
	for attempt := 1; ; attempt++ {
		res, err := r.Model.Chat(ctx, llm.Request{Messages: messages, Schema: &joined, Temperature: r.Temperature})
		if err != nil {
			return err
		}
		var why string
		out, why = check(res.Message.Text, refs)
		if why == "" {
			out.Failures = failures
			for _, v := range r.st.Views {
				if v.State != Failed && !slices.ContainsFunc(out.Points, func(p Point) bool {
					return slices.ContainsFunc(p.Refs, func(ref string) bool { return refs[ref] == v.Name })
				}) {
					out.Silent = append(out.Silent, v.Name)
				}
			}
			return r.complete(ctx, &out, res.Usage)
		}
		if err := r.commit(ctx, false, func(st *State, _ *sequent.Change) error {
			st.Usage, st.Calls = st.Usage.Plus(res.Usage), st.Calls+1
			return nil
		}); err != nil {
			return err
		}
		if attempt == synthesisCalls {
			return &Error{CodeNoAnswer, "the synthesis cannot be used: " + why, "resume to ask again; the perspectives are stored"}
		}
		messages = append(messages, llm.Message{Role: llm.Assistant, Text: res.Message.Text}, llm.Message{
			Role: llm.User, Text: "That cannot be used: " + why + ". Answer again, with one JSON object.",
		})
	}
}

// check returns a synthesis with the points whose citations exist, or the reason why the text is not one.
func check(text string, refs map[string]string) (out Synthesis, why string) {
	from, to := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}')
	if from < 0 || to < from || json.Unmarshal([]byte(text[from:to+1]), &out) != nil {
		return out, "it is not a JSON object in the form that was asked for"
	}
	points := out.Points
	out = Synthesis{Answer: strings.TrimSpace(strings.ReplaceAll(out.Answer, "\x00", ""))}
	if out.Answer == "" {
		return out, "the answer is empty"
	}
	for _, p := range points {
		p.Text = strings.Join(strings.Fields(strings.ReplaceAll(p.Text, "\x00", "")), " ")
		var known []string
		for _, ref := range p.Refs {
			if ref = strings.Trim(ref, "[]() "); refs[ref] != "" && !slices.Contains(known, ref) {
				known = append(known, ref)
			}
		}
		if p.Text == "" || len(known) == 0 || len(known) < len(p.Refs) {
			out.Dropped = append(out.Dropped, p.Text)
			continue
		}
		out.Points = append(out.Points, Point{p.Text, known})
	}
	if len(out.Points) == 0 {
		return out, "no point cites thoughts that exist"
	}
	return out, ""
}

// Text returns the synthesis as the thought that it becomes.
func (s *Synthesis) Text() string {
	var b strings.Builder
	b.WriteString(s.Answer + "\n")
	for _, p := range s.Points {
		fmt.Fprintf(&b, "\n- %s [%s]", p.Text, strings.Join(p.Refs, ", "))
	}
	for _, v := range s.Failures {
		what := "failed"
		if v.State == Cut {
			what = "was cut short"
		}
		fmt.Fprintf(&b, "\n- The perspective %s %s: %s", v.Name, what, v.Why)
	}
	return b.String()
}

// complete records the synthesis and completes the session.
func (r *run) complete(ctx context.Context, out *Synthesis, used llm.Usage) error {
	text := out.Text()
	if limit := r.Engine.Limits().Text; limit > 0 && len(text) > limit {
		text = strings.ToValidUTF8(text[:limit], "")
	}
	var t sequent.Thought
	err := r.commit(ctx, false, func(st *State, c *sequent.Change) (err error) {
		st.Usage, st.Calls, st.Synthesis = st.Usage.Plus(used), st.Calls+1, out
		if t, err = c.Append(sequent.Draft{Number: 2, Total: 2, Text: text}); err != nil {
			return err
		}
		for _, v := range st.Views { // the branches are part of the answer
			if _, ok := c.Session().End(v.Name); ok && v.State != Failed {
				if err := c.Decide(v.Name, sequent.Chosen); err != nil {
					return err
				}
			}
		}
		c.Conclude(text)
		c.SetState(sequent.Completed)
		return nil
	})
	if err == nil {
		r.emit(Event{Thought: t})
		r.emit(Event{Done: out})
	}
	return err
}
