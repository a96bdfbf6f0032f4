package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/sequent-dev/sequent/dialect/status"
	"github.com/sequent-dev/sequent/internal/telemetry"
	"github.com/sequent-dev/sequent/llm"
	"github.com/sequent-dev/sequent/llm/openai"
)

// maxModels limits the number of cached clients. A client remembers the options that
// its model rejects.
const maxModels = 64

// A writer lets language models write thoughts for the dialect status.
type writer struct {
	config    openai.Config
	telemetry *telemetry.Telemetry

	mu      sync.Mutex // guards clients
	clients map[string]llm.Model
}

// client returns the client of a model. It reads keys when they are needed, so that a
// missing key affects only calls that need it.
func (w *writer) client(name string) (llm.Model, error) {
	cfg := w.config
	cfg.Model = cmp.Or(name, cfg.Model)
	w.mu.Lock()
	defer w.mu.Unlock()
	if c := w.clients[cfg.Model]; c != nil {
		return c, nil
	}
	client, err := openai.New(cfg)
	if err != nil {
		return nil, err
	}
	c := w.telemetry.Model(client, client.Provider())
	if len(w.clients) < maxModels {
		w.clients[cfg.Model] = c
	}
	return c, nil
}

// Write answers a prompt.
func (w *writer) Write(ctx context.Context, p status.Prompt) (status.Answer, error) {
	c, err := w.client(p.Model)
	if err != nil {
		return status.Answer{}, modelError(err)
	}
	r := llm.Request{
		Messages:    []llm.Message{{Role: llm.System, Text: p.System}, {Role: llm.User, Text: p.User}},
		Schema:      &llm.Schema{Name: "thought", JSON: p.Schema},
		Temperature: &p.Temperature,
	}
	res, err := stream(ctx, c, r, p.Piece)
	if err != nil {
		return status.Answer{}, modelError(err)
	}
	if res.Stop == llm.StopLength {
		return status.Answer{}, &status.ModelError{Msg: "the model's answer was truncated at its maximum length; ask for a shorter one, or choose another model"}
	}
	return status.Answer{Text: res.Message.Text, Model: c.Name()}, nil
}

// stream returns an answer and passes on its pieces, unless piece is nil. A request is repeated only
// before the first piece, because pieces cannot be taken back.
func stream(ctx context.Context, c llm.Model, r llm.Request, piece func(string)) (llm.Response, error) {
	begun := false
	for e, err := range c.Stream(ctx, r) {
		switch {
		case err != nil && begun && llm.CodeOf(err) != llm.CodeCanceled:
			return llm.Response{}, brokenOff(err)
		case err != nil:
			return llm.Response{}, err
		case e.Response != nil:
			return *e.Response, nil
		case e.Retry != nil && begun:
			return llm.Response{}, brokenOff(e.Retry.Err)
		case e.Text != "" && piece != nil:
			begun = true
			piece(e.Text)
		}
	}
	return llm.Response{}, fmt.Errorf("app: the stream of model %s ended without a response", c.Name())
}

// brokenOff returns the error of an answer that ended early.
func brokenOff(err error) error {
	broken := &llm.Error{Code: llm.CodeInterrupted, Msg: "the answer broke off while it was written, and nothing was recorded", Fix: "repeat the call", Err: err}
	if e, ok := errors.AsType[*llm.Error](err); ok {
		broken.Code, broken.Status = e.Code, e.Status
		broken.Msg += " (" + e.Msg + ")"
	}
	return broken
}

// modelError converts an error for clients. It omits fixes that only the operator of
// the server can apply.
func modelError(err error) error {
	e, ok := errors.AsType[*llm.Error](err)
	if !ok {
		return err
	}
	switch e.Code {
	case llm.CodeNoKey:
		return &status.ModelError{Setup: true, Msg: e.Msg, Err: err}
	case llm.CodeNoModel:
		return &status.ModelError{Msg: e.Msg + "; pass model, or set the API key of a provider or SEQUENT_MODEL for the server", Err: err}
	}
	return &status.ModelError{Msg: strings.TrimSuffix(e.Msg+"; "+e.Fix, "; "), Err: err}
}
