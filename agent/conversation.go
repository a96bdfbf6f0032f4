package agent

import (
	"slices"

	"github.com/sequent-dev/sequent/llm"
)

// A Conversation is what the caller of [Run] stores to go on after a crash. Its methods leave
// slices that others have as they are.
type Conversation struct {
	Messages []llm.Message `json:"messages,omitempty"` // after the prompt
	Begun    []string      `json:"begun,omitempty"`    // ids of begun calls that may have effects
}

// Begin notes a call that may have effects, before it is made.
func (c *Conversation) Begin(id string) { c.Begun = append(slices.Clip(c.Begun), id) }

// Answered adds or replaces the result of a call.
func (c *Conversation) Answered(id, text, refusal string) {
	m := llm.Message{Role: llm.Result, CallID: id, Text: text, Refusal: refusal}
	// IDs are unique in one answer of the model only.
	for i := len(c.Messages) - 1; i >= 0 && c.Messages[i].Role == llm.Result; i-- {
		if c.Messages[i].CallID == id {
			c.Messages = slices.Clone(c.Messages)
			c.Messages[i] = m
			return
		}
	}
	c.Messages = append(slices.Clip(c.Messages), m)
}

// Interrupted returns the begun calls without a result.
func (c *Conversation) Interrupted() (ids []string) {
	answered := make(map[string]bool)
	for _, m := range c.Messages {
		answered[m.CallID] = true
	}
	for _, id := range c.Begun {
		if !answered[id] {
			ids = append(ids, id)
		}
	}
	return ids
}

// AnswerInterrupted answers calls that began before a crash. Their effects are unknown, so the
// model must decide whether to repeat them.
func (c *Conversation) AnswerInterrupted() {
	for _, id := range c.Interrupted() {
		c.Answered(id, "The program ended during this call. It is not known whether it did anything: find out before you call it again.", "")
	}
}

// Finished returns the text of the last answer. It returns false if the conversation goes on.
func (c *Conversation) Finished() (text string, ok bool) {
	if len(c.Messages) == 0 {
		return "", false
	}
	last := c.Messages[len(c.Messages)-1]
	return last.Text, last.Role == llm.Assistant && len(last.Calls) == 0
}
