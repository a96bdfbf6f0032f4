package plan

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/llm"
)

// record puts the result of a phase into the log, as a thought, or several where
// one cannot hold it, unless it is what was thought last.
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
		d := sequent.Draft{Number: number, Total: total, Text: part, More: true}
		if note := "result of " + phase; i == 0 && (limit < 0 || len(note) <= limit) {
			d.Note = note
		}
		if _, err := c.Append(d); err != nil {
			return err
		}
	}
	return nil
}

// parts breaks a text into parts of at most limit bytes; a negative limit is none.
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

// clean returns a text as every store can keep it.
func clean(text string) string {
	return strings.TrimSpace(strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", ""))
}

// gathered is the result of a phase that ended without an answer: what was said
// last, what was thought, and what tools answered, as far as there is room.
func (r *run) gathered(s *sequent.Session) string {
	const room, each = 24 << 10, 4 << 10
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
	thinking := make(map[string]bool)
	names := make(map[string]string)
	for _, m := range r.st.Messages {
		for _, c := range m.Calls {
			names[c.ID] = c.Name
			thinking[c.ID] = c.Name == r.thinking
		}
		if m.Role == llm.Result && !thinking[m.CallID] {
			found = append(found, fmt.Sprintf("%s answered: %s", names[m.CallID], parts(m.Text, each)[0]))
		}
	}
	var b strings.Builder
	for _, f := range found {
		f = clean(f)
		if b.Len()+len(f) > room {
			b.WriteString("[more is left out]")
			break
		}
		if f != "" {
			b.WriteString(f + "\n\n")
		}
	}
	return clean(b.String())
}
