package status

import (
	"encoding/json"
	"strings"
	"sync"
	"unicode"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/lazyregexp"
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

	state reading
	rest  string // what has come and is not read yet
	sent  strings.Builder
	space string // white space that ends what has come, and is cut from a thought
}

// A reading is where in an answer its last piece was.
type reading int

const (
	atStart  reading = iota // only white space has come
	inWords                 // in words, which are the thought unless an object with it follows
	inForm                  // in an object, before the thought
	inString                // in the string that has the thought
	atEnd                   // nothing of the rest is passed on before the end
)

var (
	member = lazyregexp.New(`"thought"\s*:\s*"`)
	// characters are those that are whole: a piece may end in an escape.
	characters = lazyregexp.New(`^(?:[^"\\]|\\[^u]|\\u(?:[^dD].|[dD][^89abAB])..|\\u[dD][89abAB]..\\u....)*`)
)

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

// piece takes a piece of the answer, in whole characters, and passes on what it adds to the
// thought. An answer that begins with an object or a fence is a form; of others nothing is
// passed on after the first brace, because an object with the thought may follow.
func (w *writing) piece(text string) {
	w.first.Do(w.begun)
	if w.state == atEnd {
		return
	}
	w.rest += text
	if w.state == atStart {
		w.rest = strings.TrimLeftFunc(w.rest, unicode.IsSpace)
		switch {
		case w.rest == "":
			return
		case w.rest[0] == '{' || w.rest[0] == '`':
			w.state = inForm
		default:
			w.state = inWords
		}
	}
	if w.state == inForm {
		at := member().FindStringIndex(w.rest)
		if at == nil {
			return
		}
		w.state, w.rest = inString, w.rest[at[1]:]
	}
	ends := false
	if w.state == inWords {
		text, _, ends = strings.Cut(w.rest, "{")
		w.rest = ""
	} else {
		whole := characters().FindString(w.rest)
		w.rest = w.rest[len(whole):]
		text = ""
		err := json.Unmarshal([]byte(`"`+whole+`"`), &text)
		ends = err != nil || strings.HasPrefix(w.rest, `"`)
	}
	w.pass(text)
	if ends {
		w.state = atEnd
	}
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
