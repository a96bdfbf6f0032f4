package tool

// A Weight says what calls of a tool need most. A server limits how many heavy calls
// and calls of models run at a time, so that other calls are not behind them.
type Weight int

// The weights.
const (
	Light Weight = iota // computes for a few milliseconds at most
	Heavy               // may compute for longer: searches, reads whole sessions
	Model               // waits for a language model
)

// Weighing returns the tool with another weight.
func (t Tool) Weighing(w Weight) Tool {
	t.Weight = w
	return t
}
