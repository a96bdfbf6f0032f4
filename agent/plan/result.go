package plan

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/printable"
	"github.com/sequent-dev/sequent/llm"
)

// record appends the result of a phase to the log, unless it equals the last
// thought. A result that exceeds the limit of a thought becomes several thoughts.
func record(c *sequent.Change, phase, text string, limit int) error {
	if last, ok := c.Session().Last(); ok && clean(last.Text) == text {
		return nil
	}
	for i, part := range parts(text, limit) {
		s := c.Session()
		number := s.NextNumber("")
		total := number
		if last, ok := s.End(""); ok {
			total = max(total, last.Total)
		}
		d := sequent.Draft{Number: number, Total: total, Text: part}
		if note := "result of " + phase; i == 0 && (limit < 0 || len(note) <= limit) {
			d.Note = note
		}
		if _, err := c.Append(d); err != nil {
			return err
		}
	}
	return nil
}

// parts splits a text into parts of at most limit bytes. A negative limit means no
// limit.
func parts(text string, limit int) []string {
	var list []string
	for limit > 0 && len(text) > limit {
		n := limit
		for n > 1 && !utf8.RuneStart(text[n]) {
			n--
		}
		list, text = append(list, text[:n]), text[n:]
	}
	return append(list, text)
}

// clean returns a text in a form that every store accepts.
func clean(text string) string {
	return strings.TrimSpace(strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", ""))
}

// happened says what the model did in the current phase instead of answering.
func (st *State) happened() string {
	const maxReasons = 3
	answers, calls, refused := 0, 0, 0
	var reasons []string
	for _, m := range st.Messages {
		if m.Role == llm.Assistant {
			answers, calls = answers+1, calls+len(m.Calls)
		}
		if m.Refusal == "" {
			continue
		}
		if refused++; !slices.Contains(reasons, m.Refusal) {
			reasons = append(reasons, m.Refusal)
		}
	}
	switch {
	case calls == 0:
		return printable.Count(answers, "empty reply", "empty replies")
	case refused == 0:
		return printable.Count(calls, "call", "calls") + " that recorded nothing"
	case len(reasons) > maxReasons:
		reasons = append(reasons[:maxReasons], "and other reasons")
	}
	return printable.Count(refused, "call", "calls") + " refused: " + strings.Join(reasons, "; ")
}

// fallbackResult returns the result of a phase that ended without an answer: the
// last message, the thoughts, and the results of tools, up to maxResult bytes.
func (r *run) fallbackResult(s *sequent.Session) string {
	const maxResult, maxToolResult = 24 << 10, 4 << 10 // bytes
	var found []string
	for _, m := range slices.Backward(r.st.Messages) {
		if m.Role == llm.Assistant {
			found = append(found, m.Text)
			break
		}
	}
	for t := range s.Since(r.st.Since) {
		found = append(found, t.Text)
	}
	names := make(map[string]string)
	for _, m := range r.st.Messages {
		for _, c := range m.Calls {
			names[c.ID] = c.Name
		}
		if m.Role == llm.Result && m.Refusal == "" && names[m.CallID] != r.thinkTool {
			found = append(found, fmt.Sprintf("%s answered: %s", names[m.CallID], parts(m.Text, maxToolResult)[0]))
		}
	}
	var b strings.Builder
	for _, f := range found {
		f = clean(f)
		if b.Len()+len(f) > maxResult {
			b.WriteString("[more is left out]")
			break
		}
		if f != "" {
			b.WriteString(f + "\n\n")
		}
	}
	return clean(b.String())
}
