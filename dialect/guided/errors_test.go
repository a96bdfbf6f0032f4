package guided

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/tool"
)

// Every code of the engine has a reason, and a call is to be repeated only where
// that can help.
func TestReasonsOfCodes(t *testing.T) {
	type want struct {
		reason reason
		repeat bool
	}
	wants := map[sequent.Code]want{
		sequent.CodeInvalidThought:   {validationError, false},
		sequent.CodeInvalidSession:   {processingError, false},
		sequent.CodeInvalidQuery:     {processingError, false},
		sequent.CodeSessionNotFound:  {processingError, true},
		sequent.CodeThoughtNotFound:  {processingError, false},
		sequent.CodeSessionExists:    {processingError, true},
		sequent.CodeRequestKeyReused: {processingError, false},
		sequent.CodeLimitExceeded:    {limitReached, false},
		sequent.CodeQuotaExceeded:    {limitReached, false},
		sequent.CodeConflict:         {processingError, true},
		sequent.CodeCanceled:         {processingError, true},
		sequent.CodeBusy:             {processingError, true},
		sequent.CodeUnavailable:      {processingError, false},
		sequent.CodeReadOnly:         {processingError, false},
		sequent.CodeFull:             {processingError, false},
		sequent.CodeCorrupt:          {processingError, false},
		sequent.CodeOtherFormat:      {processingError, false},
		sequent.CodeInternal:         {unexpectedError, false},
	}
	for _, code := range sequent.Codes() {
		d := &server{logger: slog.New(slog.DiscardHandler)}
		reply := d.refuse(t.Context(), tool.Caller{}, call{Thought: "a", Number: 1, Total: 2, Next: true}, &sequent.Error{Code: code})
		var got struct {
			Reason   reason `json:"stop_reason"`
			Continue bool   `json:"should_continue"`
		}
		if err := json.Unmarshal(reply.JSON, &got); err != nil {
			t.Fatal(err)
		}
		if w, ok := wants[code]; !ok || w != (want{got.Reason, got.Continue}) {
			t.Errorf("%s: got %+v, want %+v", code, got, w)
		}
		if stops := strings.Contains(reply.Text, "stop and tell the user"); stops == (got.Continue || code == sequent.CodeInvalidThought || code == sequent.CodeLimitExceeded) {
			t.Errorf("%s: got %q", code, reply.Text)
		}
	}
}

// Each reason that the schema publishes has its constant.
func TestReasons(t *testing.T) {
	all := []reason{
		nextRequired, needsMore, complete, validationError, limitReached,
		rateLimited, tooLarge, processingError, unexpectedError,
	}
	schema := string(tool.ParseFS(contract, "tool").OutputSchema)
	_, list, _ := strings.Cut(schema, `"stop_reason":{"type":"string","enum":[`)
	list, _, _ = strings.Cut(list, "]")
	var want []string
	for _, r := range all {
		want = append(want, `"`+string(r)+`"`)
	}
	if got := strings.Join(want, ","); got != list {
		t.Errorf("the schema has the reasons %s, want %s", list, got)
	}
}

// A fault of ours is told apart from what a caller can put right, and its cause
// is for the log.
func TestUnexpectedError(t *testing.T) {
	var log bytes.Buffer
	d := New(Config{
		Engine: sequent.New(sequent.Config{}), Rand: failing{},
		Logger: slog.New(slog.NewTextHandler(&log, nil)),
	})
	reply, err := d.Tools[0].Call(t.Context(), tool.Call{
		Args: []byte(`{"thought":"SECRET","thoughtNumber":1,"totalThoughts":2,"nextThoughtNeeded":true,` +
			`"isRevision":false,"branchFromThought":null,"branchId":null,"needsMoreThoughts":false}`),
		Caller: tool.Caller{Scope: tool.Scope{Name: "s"}},
	})
	if err != nil || !reply.Failed {
		t.Fatalf("the call is answered with %+v, %v", reply, err)
	}
	for _, want := range []string{`"should_continue":false`, `"stop_reason":"unexpected_error"`, `"next_call_arguments":null`} {
		if !strings.Contains(string(reply.JSON), want) {
			t.Errorf("the reply has no %s: %s", want, reply.JSON)
		}
	}
	if strings.Contains(reply.Text, "no more bytes") || !strings.Contains(log.String(), "no more bytes") {
		t.Errorf("the cause is for the log and not for the reply\nlog: %s\nreply: %s", log.String(), reply.Text)
	}
	if strings.Contains(log.String(), "SECRET") {
		t.Errorf("the log has the thought: %s", log.String())
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) {
	return 0, errors.Join(io.ErrUnexpectedEOF, errors.New("no more bytes"))
}
