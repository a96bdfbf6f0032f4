package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/agent/plan"
	"github.com/sequent-dev/sequent/dialect/history"
	"github.com/sequent-dev/sequent/mcpserver/client"
	"github.com/sequent-dev/sequent/tool"
)

// ThinkTool is the name under which models see the tool that records the thoughts of a
// machine.
const ThinkTool = "sequentialthinking"

// Machine returns a machine that records thoughts with the tool of the dialect
// history, in sessions of a.Engine. It sets Engine and Think of the configuration.
func (a *App) Machine(cfg plan.Config) *plan.Machine {
	cfg.Engine = a.Engine
	cfg.Think = func(id sequent.ID, onRecord func(context.Context, *sequent.Change) error) tool.Tool {
		return history.NewTool(history.ToolConfig{
			Engine: a.Engine, SessionID: id, Beside: onRecord,
			TTL:    -1, // keep the session
			Window: 1,  // the model's own calls already contain its thoughts
		}).Tool()
	}
	return plan.New(cfg)
}

// ConnectTimeout limits how long an MCP server may take to start.
const ConnectTimeout = 30 * time.Second

// CodeMCPServer is the code of an MCP server that does not start or list its tools.
const CodeMCPServer sequent.Code = "mcp_server_failed"

// MCPTools starts an MCP server with a command line of the shell and returns its tools. The
// server's standard error goes to stderr. The caller must call stop.
func MCPTools(ctx context.Context, command string, stderr io.Writer) (tools []tool.Tool, stop func() error, err error) {
	failed := func(err error) error {
		return &sequent.Error{
			Code: CodeMCPServer, Err: err,
			Msg: fmt.Sprintf("cannot use the MCP server %q", command),
			Fix: "run the command by itself to see why",
		}
	}
	connecting, cancel := context.WithTimeout(ctx, ConnectTimeout)
	defer cancel()
	cmd := shell(command)
	cmd.Stderr, cmd.WaitDelay = stderr, time.Second // which what the command left running may hold open
	server, err := client.Connect(connecting, cmd)
	if err != nil {
		killRest(cmd)
		return nil, nil, failed(err)
	}
	stop = func() error {
		defer killRest(cmd)
		return server.Close()
	}
	if tools, err = server.Tools(connecting); err != nil {
		return nil, nil, failed(errors.Join(err, stop()))
	}
	return tools, stop, nil
}
