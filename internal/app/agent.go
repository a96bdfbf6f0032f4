package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/agent/plan"
	"github.com/sequent-dev/sequent/dialect/history"
	"github.com/sequent-dev/sequent/llm"
	"github.com/sequent-dev/sequent/llm/openai"
	"github.com/sequent-dev/sequent/mcpserver/client"
	"github.com/sequent-dev/sequent/tool"
)

// Open returns the configured model. It makes no request.
func (c ModelConfig) Open() (llm.Model, error) {
	m, err := openai.New(openai.Config{Model: c.Name, Timeout: c.Timeout, MaxAttempts: c.MaxAttempts, Getenv: c.Getenv})
	if err != nil {
		return nil, err
	}
	return m, nil
}

// ThinkTool is the name under which models see the tool that records the thoughts of a
// machine.
const ThinkTool = "sequentialthinking"

// A MachineConfig configures a machine; see [plan.Config].
type MachineConfig struct {
	Model       llm.Model
	Table       plan.Table
	Tools       []tool.Tool
	TokenBudget int
}

// Machine returns a machine that records thoughts with the tool of the dialect
// history, in sessions of a.Engine.
func (a *App) Machine(cfg MachineConfig) *plan.Machine {
	return plan.New(plan.Config{
		Engine: a.Engine, Model: cfg.Model, Table: cfg.Table, Tools: cfg.Tools, TokenBudget: cfg.TokenBudget,
		Think: func(id sequent.ID, onRecord func(context.Context, *sequent.Change) error) tool.Tool {
			return history.NewTool(history.ToolConfig{
				Engine: a.Engine, SessionID: id, Beside: onRecord,
				TTL:    -1, // keep the session
				Window: 1,  // the model's own calls already contain its thoughts
			}).Tool()
		},
	})
}

// ConnectTimeout limits how long an MCP server may take to start.
const ConnectTimeout = 30 * time.Second

// CodeMCPServer is the code of an MCP server that does not start or list its tools.
const CodeMCPServer sequent.Code = "mcp_server_failed"

// MCPTools starts an MCP server with a command line and returns its tools. The
// server's standard error goes to stderr. The caller must call stop.
func MCPTools(ctx context.Context, command string, stderr io.Writer) (tools []tool.Tool, stop func() error, err error) {
	args, err := SplitWords(command)
	switch {
	case err != nil:
		return nil, nil, usage(fmt.Sprintf("--mcp %q: %v", command, err), "close the quote")
	case len(args) == 0 || args[0] == "":
		return nil, nil, usage("--mcp has no command", "pass the command line of an MCP server")
	}
	failed := func(err error) error {
		return &sequent.Error{
			Code: CodeMCPServer, Err: err,
			Msg: fmt.Sprintf("cannot use the MCP server %q", command),
			Fix: "run the command by itself to see why",
		}
	}
	connecting, cancel := context.WithTimeout(ctx, ConnectTimeout)
	defer cancel()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stderr = stderr
	setProcessGroup(cmd)
	server, err := client.Connect(connecting, cmd)
	if err != nil {
		return nil, nil, failed(err)
	}
	if tools, err = server.Tools(connecting); err != nil {
		return nil, nil, failed(errors.Join(err, server.Close()))
	}
	return tools, server.Close, nil
}
