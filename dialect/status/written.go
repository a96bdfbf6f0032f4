package status

import (
	"strings"
	"sync"
	"unicode"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/jsonscan"
	"github.com/sequent-dev/sequent/tool"
)

// A Board shows thoughts while a model writes them. It is safe for concurrent use.
type Board interface {
	// Begin announces a thought of a session, on a branch, with a number. The caller calls
	// piece with each piece of its text, and end at its end. A nil piece means that
	// the session is not followed; the model is then asked for the whole answer.
	Begin(key sequent.Key, branch string, number int) (piece func(text string), end func())
}

// A writing passes on a thought while a model writes it: to the client that asked for
// reports, and to the board.
type writing struct {
	to    []func(piece string)
	end   func()
	first sync.Once
	begun func() // called before the first piece

	answer  strings.Builder
	member  *jsonscan.Pieces // if the answer is an object
	started bool             // of the answer something other than white space has come
	sent    strings.Builder
	space   string // white space that ends what has come, and is cut from a thought
}

// write announces a step that a model writes. It calls begun before the first piece. It
// returns nil if the session is not followed.
func (d *server) write(c tool.Call, st step, id sequent.ID, begun func()) *writing {
	w := &writing{end: func() {}, begun: begun}
	if c.Text != nil {
		w.to = append(w.to, c.Text)
	}
	if d.board != nil && id != "" {
		piece, end := d.board.Begin(sequent.Key{Owner: c.Caller.Owner, ID: id}, st.Branch, st.Number)
		if w.end = end; piece != nil {
			w.to = append(w.to, piece)
		}
	}
	if len(w.to) == 0 {
		w.end()
		return nil
	}
	return w
}

// piece takes a piece of the answer and passes on what it adds to the thought. An answer
// that is an object is a form; of others nothing is passed on after the first brace,
// because an object with the thought may follow.
func (w *writing) piece(text string) {
	w.first.Do(w.begun)
	if !w.started {
		if text = strings.TrimLeftFunc(text, unicode.IsSpace); text == "" {
			return
		}
		w.started = true
		if text[0] == '{' || text[0] == '`' {
			w.member = jsonscan.NewPieces("thought")
		}
	}
	switch {
	case w.member != nil:
		w.pass(w.member.Add(text))
	case strings.ContainsRune(w.answer.String(), '{'):
	default:
		before, _, _ := strings.Cut(text, "{")
		w.pass(before)
	}
	w.answer.WriteString(text)
}

// pass passes on text of the thought, without white space at its ends.
func (w *writing) pass(text string) {
	if w.sent.Len() == 0 {
		text = strings.TrimLeftFunc(text, unicode.IsSpace)
	}
	text = w.space + text
	kept := strings.TrimRightFunc(text, unicode.IsSpace)
	w.space = text[len(kept):]
	w.tell(kept)
}

func (w *writing) tell(text string) {
	if text == "" {
		return
	}
	w.sent.WriteString(text)
	for _, f := range w.to {
		f(text)
	}
}

// done passes on the rest of the thought, which is known now. What was passed on before is
// its beginning, unless the model put the form after other words.
func (w *writing) done(thought string) {
	rest, ok := strings.CutPrefix(thought, w.sent.String())
	if !ok {
		rest = "\n" + thought
	}
	w.tell(rest)
}
