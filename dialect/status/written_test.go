package status_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect/status"
	"github.com/sequent-dev/sequent/tool"
)

// A typist is a model whose answer is the name of the model, in pieces of a few bytes.
type typist struct{ size int }

func (m typist) Write(_ context.Context, p status.Prompt) (status.Answer, error) {
	for text := p.Model; text != "" && p.Piece != nil; {
		n := min(m.size, len(text))
		p.Piece(text[:n])
		text = text[n:]
	}
	return status.Answer{Text: p.Model, Model: "typist"}, nil
}

// A board records what it is shown.
type board struct {
	mu   sync.Mutex
	log  []string
	open int
}

func (b *board) Begin(key sequent.Key, branch string, number int) (func(string), func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open++
	b.log = append(b.log, "")
	at := len(b.log) - 1
	return func(text string) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.log[at] += text
		}, func() {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.open--
		}
}

// The pieces of a thought add up to the thought that is recorded, for the client and for
// the board.
func TestPieces(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ answer, thought, pieces string }{
		{`{"thought":" It is \"late\". \n","confidence":0.5}`, `It is "late".`, ""},
		{`{"confidence":0.5,"thought":"A\n\nB \ud83d\ude00"}`, "A\n\nB 😀", ""},
		{`{"thought":"a\\\"\n\u00e9\ud83d\ude00\\u","x":{"thought":"b"}}`, "a\\\"\né😀\\u", ""},
		{`{"thought":"a\ud83d, b"}`, "a\ufffd, b", ""},
		{"```json\n{\"thought\":\"fenced\"}\n```", "fenced", ""},
		{"  Only words, \n on two lines.\n", "Only words, \n on two lines.", ""},
		{"A set {a, b} and more.", "A set {a, b} and more.", ""},
		{"`code` first", "`code` first", ""},
		{`Sure! {"thought":"late form"}`, "late form", "Sure!\nlate form"},
	} {
		for _, size := range []int{1, 3, 1000} {
			b := new(board)
			e := sequent.New(sequent.Config{})
			d := status.New(status.Config{Engine: e, Model: typist{size}, Board: b})
			var heard strings.Builder
			call := args{Thought: "p", Number: 1, Total: 2, Next: true, Session: "s", Model: tt.answer}
			_, err := d.Tools[1].Call(t.Context(), tool.Call{
				Args: json.RawMessage(call.json()), Caller: tool.Caller{Scope: tool.Scope{Name: "t"}},
				Text: func(piece string) { heard.WriteString(piece) },
			})
			if err != nil {
				t.Fatal(err)
			}
			s, err := e.Session(t.Context(), "s")
			if err != nil {
				t.Fatal(err)
			}
			last, _ := s.Last()
			want := tt.pieces
			if want == "" {
				want = tt.thought
			}
			if last.Text != tt.thought || heard.String() != want || b.log[0] != want || b.open != 0 {
				t.Errorf("%q in pieces of %d: recorded %q, heard %q, shown %q, %d open; want %q", tt.answer, size, last.Text, heard.String(), b.log[0], b.open, want)
			}
		}
	}
}
