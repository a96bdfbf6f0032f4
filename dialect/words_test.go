package dialect_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/tool"
)

func TestRefusal(t *testing.T) {
	table := dialect.Table{
		Codes: map[sequent.Code]dialect.Words{
			sequent.CodeInvalidSession: {Code: "INVALID_SESSION", Action: dialect.Report},
			sequent.CodeConflict:       {Fix: "wait"},
			"workflow_closed":          {Code: "CLOSED", Action: dialect.Correct},
		},
		Fields:      map[string]string{"text": "thought"},
		SessionFull: "begin anew",
	}
	full := &sequent.Error{Code: sequent.CodeLimitExceeded, Field: "thought", Msg: "the session has 9 thoughts, the limit", Fix: "begin another session"}
	tests := []struct {
		name   string
		table  dialect.Table
		err    error
		want   tool.Refusal
		action dialect.Action
	}{
		{"shared", table, &sequent.Error{Code: sequent.CodeBusy, Msg: "the store is busy"},
			tool.Refusal{Code: "STORE_BUSY", Message: "the store is busy", Fix: "repeat the call"}, dialect.Repeat},
		{"the engine's fix", table, &sequent.Error{Code: sequent.CodeInvalidQuery, Field: "limit", Msg: "m", Fix: "f"},
			tool.Refusal{Code: "INVALID_QUERY", Field: "limit", Message: "m", Fix: "f"}, dialect.Correct},
		{"the shared fix before the engine's", table, &sequent.Error{Code: sequent.CodeCorrupt, Msg: "m", Fix: "run sequent doctor"},
			tool.Refusal{Code: "STORE_CORRUPT", Message: "m", Fix: "tell the user to run: sequent doctor"}, dialect.Report},
		{"code and action", table, &sequent.Error{Code: sequent.CodeInvalidSession, Msg: "m", Fix: "f"},
			tool.Refusal{Code: "INVALID_SESSION", Message: "m", Fix: "f"}, dialect.Report},
		{"fix", table, sequent.ErrConflict, tool.Refusal{Code: "CONFLICT", Message: "conflict", Fix: "wait"}, dialect.Repeat},
		{"a code of the dialect's own", table, &sequent.Error{Code: "workflow_closed", Msg: "m"},
			tool.Refusal{Code: "CLOSED", Message: "m"}, dialect.Correct},
		{"field", table, &sequent.Error{Code: sequent.CodeInvalidThought, Field: "text", Msg: "text is empty"},
			tool.Refusal{Code: "INVALID_THOUGHT", Field: "thought", Message: "thought is empty"}, dialect.Correct},
		{"session full", table, fmt.Errorf("wrapped: %w", full),
			tool.Refusal{Code: "LIMIT_EXCEEDED", Field: "thought", Message: full.Msg, Fix: "begin anew"}, dialect.Correct},
		{"session full without words", dialect.Table{}, full,
			tool.Refusal{Code: "LIMIT_EXCEEDED", Field: "thought", Message: full.Msg, Fix: "begin another session"}, dialect.Correct},
		{"uncertain", dialect.Table{}, &sequent.Error{Code: sequent.CodeFull, Uncertain: true, Msg: "m", Fix: sequent.FixUncertain},
			tool.Refusal{Code: "STORE_FULL", Message: "m", Fix: dialect.CheckFirst}, dialect.Report},
		{"uncertain, with words", dialect.Table{Uncertain: "look"}, &sequent.Error{Code: sequent.CodeBusy, Uncertain: true, Msg: "m"},
			tool.Refusal{Code: "STORE_BUSY", Message: "m", Fix: "look"}, dialect.Report},
		{"no scope", dialect.Table{}, dialect.ErrScopeRequired,
			tool.Refusal{Code: "SCOPE_REQUIRED", Message: dialect.ErrScopeRequired.Msg, Fix: dialect.ErrScopeRequired.Fix}, dialect.Correct},
	}
	for _, tt := range tests {
		got, ok := tt.table.Refusal(tt.err)
		if !ok || got.Refusal != tt.want || got.Action != tt.action {
			t.Errorf("%s:\n got %+v, action %d, %v\nwant %+v, action %d", tt.name, got.Refusal, got.Action, ok, tt.want, tt.action)
		}
	}
}

// Every code has words but the internal error, which is left to the transport.
func TestEveryCodeHasWords(t *testing.T) {
	for _, code := range append(sequent.Codes(), dialect.CodeScopeRequired) {
		r, ok := dialect.Table{}.Refusal(&sequent.Error{Code: code})
		if want := code != sequent.CodeInternal; ok != want || ok && (r.Code == "" || r.Message == "" || r.Action == 0) {
			t.Errorf("%s: got %+v, %v", code, r, ok)
		}
	}
	if r, ok := (dialect.Table{}).Refusal(errors.New("a fault")); ok {
		t.Errorf("a fault: got %+v, want no words", r)
	}
}
