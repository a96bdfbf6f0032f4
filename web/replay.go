package web

import (
	"encoding/json"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/redact"
)

// A Recording is a whole session, as a file holds it.
type Recording struct {
	State
	Rows     []Row            `json:"rows"`
	Thoughts []Text           `json:"thoughts"`
	Chains   [][]Piece        `json:"chains"` // of the lines, in their order
	Tree     [][2]int         `json:"tree"`   // Seqs and depths
	Masked   []redact.Finding `json:"masked,omitempty"`
}

// A Piece is a part of a line's chain: N steps of the chain of the main line, from step At,
// or, without N, a step of its own.
type Piece struct {
	At int `json:"at,omitempty"`
	N  int `json:"n,omitempty"`
	*ChainStep
}

// Replay returns a session as one HTML file, which shows and replays it in a browser and
// loads nothing. Found is what was masked in the session; the page lists it. The same
// session gives the same file.
func Replay(s *sequent.Session, found []redact.Finding) []byte {
	r := Recording{State: stateOf(s), Rows: []Row{}, Thoughts: []Text{}, Tree: treeOf(s), Masked: found}
	r.Session.Expires = time.Time{} // the file does not expire
	for t := range s.All() {
		r.Rows = append(r.Rows, newRow(&t))
		r.Thoughts = append(r.Thoughts, newText(&t, s.Epoch()))
	}
	r.Chains = chainsOf(s, r.Lines)
	return inPage("file.js", r)
}

// chainsOf returns the chains of lines. What they share is stored once: a session has many
// branches, and the chain of each begins with that of the main line.
func chainsOf(s *sequent.Session, lines []Line) [][]Piece {
	common := chainOf(s, "")
	at := make(map[int]int, len(common)) // Seq to its place in common
	for i := range common {
		at[common[i].Seq] = i
	}
	chains := make([][]Piece, len(lines))
	for i := range lines {
		pieces := []Piece{}
		for _, step := range chainOf(s, lines[i].Name) {
			j, ok := at[step.Seq]
			if !ok || lines[i].Name == "" || !same(step, common[j]) {
				pieces = append(pieces, Piece{ChainStep: &step})
			} else if last := len(pieces) - 1; last >= 0 && pieces[last].N > 0 && pieces[last].At+pieces[last].N == j {
				pieces[last].N++
			} else {
				pieces = append(pieces, Piece{At: j, N: 1})
			}
		}
		chains[i] = pieces
	}
	return chains
}

// same reports whether two steps of the same thought replaced the same ones.
func same(a, b ChainStep) bool { return a.Place == b.Place && len(a.Replaced) == len(b.Replaced) }

// inPage returns the page in one file with data, which the page reads as JSON. The
// characters that could end the element of the data are escaped in it.
func inPage(entry string, data any) []byte {
	body, err := json.Marshal(data) // it escapes <, > and &
	if err != nil {
		panic("web: " + err.Error()) // documents have no types that fail
	}
	page := singles[entry]()
	out := make([]byte, 0, len(page.before)+len(body)+len(page.after)+64)
	out = append(out, page.before...)
	out = append(out, `<script type="application/json" id="data">`...)
	out = append(out, body...)
	out = append(out, "</script>\n"...)
	return append(out, page.after...)
}

// Chat returns the viewer as one HTML file for an MCP App. It reads what it shows through
// the host of the chat.
func Chat() string {
	page := singles["chat.js"]()
	return page.before + page.after
}
