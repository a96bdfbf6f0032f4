package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/mcpserver"
	"github.com/sequent-dev/sequent/tool"
)

// serving in the environment makes the test binary a server.
const serving = "SEQUENT_TEST_SERVER"

func TestMain(m *testing.M) {
	switch os.Getenv(serving) {
	case "":
		os.Exit(m.Run())
	case "crash":
		os.Exit(3)
	}
	s := mcpserver.New(mcpserver.Config{Dialect: dialect.Dialect{Name: "test", Tools: []tool.Tool{
		{
			Spec: tool.Spec{
				Name: "echo", Title: "Echo", Description: "Says it again.", InputSchema: json.RawMessage(`{"type":"object"}`),
				Annotations: tool.Annotations{ReadOnly: true},
			},
			Call: func(_ context.Context, c tool.Call) (tool.Reply, error) {
				return tool.Reply{Text: "echo", JSON: c.Args}, nil
			},
		},
		{
			Spec: tool.Spec{Name: "refuse", InputSchema: json.RawMessage(`{"type":"object"}`)},
			Call: func(context.Context, tool.Call) (tool.Reply, error) {
				return tool.Reply{Text: "no", Failed: true}, nil
			},
		},
		{
			Spec: tool.Spec{Name: "camera", InputSchema: json.RawMessage(`{"type":"object"}`)},
			Call: func(context.Context, tool.Call) (tool.Reply, error) {
				return tool.Reply{Text: "a cat", Images: []tool.Image{{MediaType: "image/png", Data: []byte("png")}}}, nil
			},
		},
	}}})
	if err := s.ServeStdio(context.Background(), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func server(t *testing.T, mode string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), serving+"="+mode)
	return cmd
}

func TestClient(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c, err := Connect(ctx, server(t, "serve"))
	if err != nil {
		t.Fatal(err)
	}
	var tools []tool.Tool
	for range 2 { // the second time from what the server lets a client keep
		if tools, err = c.Tools(ctx); err != nil || len(tools) != 3 {
			t.Fatalf("Tools = %v, %v; want three", tools, err)
		}
		want := tool.Annotations{ReadOnly: true}
		if got := tools[0]; got.Name != "echo" || got.Title != "Echo" || got.Annotations != want || string(got.InputSchema) != `{"type":"object"}` {
			t.Errorf("Tools()[0] = %+v, want echo as published", got)
		}
	}
	const args = `{"a":"é","z":7}`
	for i, want := range []tool.Reply{
		{Text: "echo", JSON: json.RawMessage(args)}, {Text: "no", Failed: true}, {Text: "a cat", Images: []tool.Image{{MediaType: "image/png", Data: []byte("png")}}},
	} {
		got, err := tools[i].Call(ctx, tool.Call{Args: json.RawMessage(args)})
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s = %+v, %v; want %+v", tools[i].Name, got, err, want)
		}
	}
	_, err = c.CallTool(ctx, "absent", nil)
	if e, ok := errors.AsType[*tool.ProtocolError](err); !ok || e.Code != -32602 {
		t.Errorf("CallTool(absent) = %v, want a protocol error with code -32602", err)
	}
	if err := c.Close(); err != nil {
		t.Errorf("Close = %v, want nil", err)
	}
	if _, err := c.CallTool(ctx, "echo", nil); err == nil {
		t.Error("CallTool after Close succeeded, want an error")
	}
}

func TestConnectToAServerThatFails(t *testing.T) {
	t.Parallel()
	if c, err := Connect(t.Context(), server(t, "crash")); err == nil || !strings.Contains(err.Error(), "connect") {
		t.Errorf("Connect = %v, %v; want an error", c, err)
	}
	if c, err := Connect(t.Context(), exec.Command("/no/such/program")); err == nil {
		t.Errorf("Connect = %v, want an error", c)
	}
}
