//go:build js && wasm

// Command engine is the dialect history with a store in memory, as WebAssembly, for the npm package
// ai-sdk. It gives the function sequentStart(call), which the package has set, a function
// call(name, args) that answers at once: a tool's name and arguments as JSON make a result of
// tools/call as JSON.
package main

import (
	"context"
	"encoding/json"
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
	tools := make(map[string]tool.Tool)
	for _, t := range history.Native(history.Config{Engine: engine}).Tools {
		tools[t.Name] = t
	}
	var swept time.Time
	js.Global().Call("sequentStart", js.FuncOf(func(_ js.Value, args []js.Value) any {
		ctx := context.Background()
		// Expired sessions are gone for callers. A timer that deletes them would keep the process alive.
		if now := engine.Now(); now.Sub(swept) > sweepEvery {
			swept = now
			_, _ = engine.Sweep(ctx, sequent.SweepQuery{AllOwners: true, Expired: now})
		}
		reply, err := tools[args[0].String()].Call(ctx, tool.Call{Args: []byte(args[1].String())})
		text, err := response(reply, err)
		if err != nil {
			panic(err) // a reply is JSON
		}
		return string(text)
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

type content struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// response returns the response of MCP to a call.
func response(reply tool.Reply, err error) ([]byte, error) {
	if err != nil {
		return json.Marshal(map[string]any{"error": map[string]string{"message": err.Error()}})
	}
	texts := []content{{"text", reply.Text}}
	for _, text := range reply.Beside {
		texts = append(texts, content{"text", text})
	}
	return json.Marshal(map[string]any{"result": map[string]any{
		"isError": reply.Failed, "structuredContent": reply.JSON, "content": texts,
	}})
}
