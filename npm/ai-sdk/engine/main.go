//go:build js && wasm

// Command engine is the dialect history with a store in memory, as WebAssembly, for the npm package
// ai-sdk. It gives the function sequentStart(call), which the package has set, a function
// call(name, args) that answers at once: a tool's name and arguments as JSON make a result of
// tools/call as JSON.
package main

import (
	"context"
	"strconv"
	"sync"
	"syscall/js"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect/history"
	"github.com/sequent-dev/sequent/tool"
)

// sweepEvery is the least time between two looks for expired sessions.
const sweepEvery = 5 * time.Minute

func main() {
	engine := sequent.New(sequent.Config{Now: increasing()})
	tools := sync.OnceValue(func() map[string]tool.Tool { // contracts are read with the first call
		byName := make(map[string]tool.Tool)
		for _, t := range history.Native(history.Config{Engine: engine}).Tools {
			byName[t.Name] = t
		}
		return byName
	})
	var swept time.Time
	js.Global().Call("sequentStart", js.FuncOf(func(_ js.Value, args []js.Value) any {
		ctx := context.Background()
		// Expired sessions are gone for callers. A timer that deletes them would keep the process alive.
		if now := engine.Now(); now.Sub(swept) > sweepEvery {
			swept = now
			_, _ = engine.Sweep(ctx, sequent.SweepQuery{AllOwners: true, Expired: now})
		}
		return response(tools()[args[0].String()].Call(ctx, tool.Call{Args: []byte(args[1].String())}))
	}))
	select {} // calls run on goroutines of their own
}

// increasing returns a clock whose times differ. That of JavaScript counts milliseconds, in which
// several sessions begin, and they are listed in the order of their beginnings.
func increasing() func() time.Time {
	var last time.Time
	return func() time.Time {
		now := time.Now().Round(0) // sessions have the time of the wall clock
		if !now.After(last) {
			now = last.Add(time.Microsecond)
		}
		last = now
		return now
	}
}

// response returns the response of MCP to a call. What the reply has as JSON is not encoded again.
func response(reply tool.Reply, err error) string {
	if err != nil {
		return `{"error":{"message":` + quote(err.Error()) + "}}"
	}
	texts := `{"type":"text","text":` + quote(reply.Text) + "}"
	for _, text := range reply.Beside {
		texts += `,{"type":"text","text":` + quote(text) + "}"
	}
	return `{"result":{"isError":` + strconv.FormatBool(reply.Failed) + `,"structuredContent":` + string(reply.JSON) + `,"content":[` + texts + "]}}"
}

func quote(text string) string { return tool.JSONReply(text).Text }
