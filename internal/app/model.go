package app

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/sequent-dev/sequent/dialect/status"
	"github.com/sequent-dev/sequent/llm"
	"github.com/sequent-dev/sequent/llm/openai"
)

// A ModelConfig is what the program can be told about language models. Keys and
// URLs come from the environment alone.
type ModelConfig struct {
	Name        string              // which one is asked if a call names none; empty means the environment's choice
	Timeout     time.Duration       // for each try; 0 means a minute
	MaxAttempts int                 // maximum attempts per request; 0 means 3
	Getenv      func(string) string // the environment; nil means os.Getenv
}

// maxModels bounds how many models are remembered with what they refuse to be told.
const maxModels = 64

// A writer has language models write thoughts for a dialect.
type writer struct {
	config ModelConfig

	mu      sync.Mutex // guards clients
	clients map[string]*openai.Client
}

func newWriter(c ModelConfig) *writer {
	return &writer{config: c, clients: make(map[string]*openai.Client)}
}

// client returns who asks a model. Keys are read each time, so that one that is
// missing is missed only by who needs it.
func (w *writer) client(name string) (*openai.Client, error) {
	name = cmp.Or(name, w.config.Name)
	w.mu.Lock()
	defer w.mu.Unlock()
	if c := w.clients[name]; c != nil {
		return c, nil
	}
	c, err := openai.New(openai.Config{
		Model: name, Timeout: w.config.Timeout, MaxAttempts: w.config.MaxAttempts, Getenv: w.config.Getenv,
	})
	if err == nil && len(w.clients) < maxModels {
		w.clients[name] = c
	}
	return c, err
}

// Write answers a prompt.
func (w *writer) Write(ctx context.Context, p status.Prompt) (status.Answer, error) {
	c, err := w.client(p.Model)
	if err != nil {
		return status.Answer{}, modelError(err)
	}
	res, err := c.Chat(ctx, llm.Request{
		Messages:    []llm.Message{{Role: llm.System, Text: p.System}, {Role: llm.User, Text: p.User}},
		Schema:      &llm.Schema{Name: "thought", JSON: p.Schema},
		Temperature: &p.Temperature,
	})
	if err != nil {
		return status.Answer{}, modelError(err)
	}
	if res.Stop == llm.StopLength {
		return status.Answer{}, &status.ModelError{Msg: "the model's answer was cut off at its longest; ask for less, or choose another model"}
	}
	return status.Answer{Text: res.Message.Text, Model: c.Name()}, nil
}

// modelError words why there is no answer. What a client has to know is said
// without what only the one can do who runs the program.
func modelError(err error) error {
	e, ok := errors.AsType[*llm.Error](err)
	if !ok {
		return err
	}
	switch e.Code {
	case llm.CodeNoKey:
		return &status.ModelError{Setup: true, Msg: e.Msg, Err: err}
	case llm.CodeNoModel:
		return &status.ModelError{Msg: e.Msg + "; pass model, or set LUX_MODEL_NORMAL or SEQUENT_MODEL for the server", Err: err}
	}
	said := e.Msg
	if e.Fix != "" {
		said += "; " + e.Fix
	}
	return &status.ModelError{Msg: said, Err: err}
}
