package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"
	"unicode"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/agent/plan"
	"github.com/sequent-dev/sequent/dialect/history"
	"github.com/sequent-dev/sequent/llm"
	"github.com/sequent-dev/sequent/llm/openai"
	"github.com/sequent-dev/sequent/mcpserver/client"
	"github.com/sequent-dev/sequent/tool"
)

// Open returns the model that the configuration chooses. It makes no request.
func (c ModelConfig) Open() (llm.Model, error) {
	m, err := openai.New(openai.Config{Model: c.Name, Timeout: c.Timeout, MaxAttempts: c.MaxAttempts, Getenv: c.Getenv})
	if err != nil {
		return nil, err
	}
	return m, nil
}

// A MachineConfig says how an agent works on a problem.
type MachineConfig struct {
	Model  llm.Model
	Table  plan.Table
	Tools  []tool.Tool // what the model may call in every phase
	Tokens int         // see plan.Config
}

// Machine builds a machine whose model thinks with the native tool of the dialect
// history, in the sessions of a.Engine.
func (a *App) Machine(cfg MachineConfig) *plan.Machine {
	return plan.New(plan.Config{
		Engine: a.Engine, Model: cfg.Model, Table: cfg.Table, Tools: cfg.Tools, Tokens: cfg.Tokens,
		Think: func(id sequent.ID, beside func(context.Context, *sequent.Change) error) tool.Tool {
			return history.NewTool(history.ToolConfig{
				Engine: a.Engine, SessionID: id, Beside: beside,
				TTL:    -1, // whoever asked for it wants to have it
				Window: 1,  // the model sees its thoughts in its own calls
			}).Tool()
		},
	})
}

// MCPTools starts an MCP server with a command line and returns its tools. The
// server's messages for people go to stderr. The caller must call end.
func MCPTools(ctx context.Context, command string, stderr io.Writer) (tools []tool.Tool, end func() error, err error) {
	const patience = 30 * time.Second
	args, err := splitCommand(command)
	if err != nil {
		return nil, nil, err
	}
	failed := func(err error) error {
		return &sequent.Error{
			Code: sequent.CodeUnavailable, Err: err,
			Msg: fmt.Sprintf("the MCP server %q cannot be used", command),
			Fix: "run the command by itself to see why",
		}
	}
	connecting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stderr = stderr
	apart(cmd)
	server, err := client.Connect(connecting, cmd)
	if err != nil {
		return nil, nil, failed(err)
	}
	if tools, err = server.Tools(connecting); err != nil {
		return nil, nil, failed(errors.Join(err, server.Close()))
	}
	return tools, server.Close, nil
}

// splitCommand splits a command line into words, as a shell does: quotes of both
// kinds hold words together, and a backslash takes what a blank or a quote means.
// Before anything else a backslash is itself, as in the paths of Windows.
func splitCommand(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	var quote rune
	begun := false
	runes := []rune(line)
	for i := 0; i < len(runes); i++ {
		r := runes[i]
		switch {
		case r == '\\' && quote != '\'' && i+1 < len(runes) && (strings.ContainsRune(`"'\`, runes[i+1]) || quote == 0 && unicode.IsSpace(runes[i+1])):
			i++
			word.WriteRune(runes[i])
			begun = true
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			quote, begun = r, true
		case quote == 0 && unicode.IsSpace(r):
			if begun {
				words = append(words, word.String())
				word.Reset()
				begun = false
			}
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	if begun {
		words = append(words, word.String())
	}
	switch {
	case quote != 0:
		return nil, &ConfigError{Msg: fmt.Sprintf("the command %q has a quote without an end", line), Fix: "close it"}
	case len(words) == 0 || words[0] == "":
		return nil, &ConfigError{Msg: "--mcp names no command", Fix: "give it the command line of an MCP server"}
	}
	return words, nil
}
