//go:build js && wasm

// Command engine is the dialect history with a store in memory, as WebAssembly, for the npm package
// ai-sdk. It exports call, which answers at once: a tool's name and arguments as JSON make a
// result of tools/call as JSON. Both are in the memory that JavaScript shares: calls through
// syscall/js cost a quarter more.
package main

import (
	"context"
	"runtime/debug"
	"strconv"
	"sync"
	"time"
	"unsafe"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect/history"
	"github.com/sequent-dev/sequent/tool"
)

// sweepEvery is the least time between two looks for expired sessions.
const sweepEvery = 5 * time.Minute

// text has the name and the arguments of a call, which JavaScript writes, and then the result,
// which it reads.
var text []byte

// answer answers a call. It is set before JavaScript calls.
var answer func(name string, args []byte) string

// room makes room for a text of n bytes, and returns where it is.
//
//go:wasmexport room
func room(n uint32) uint32 {
	text = make([]byte, n)
	return at()
}

// at returns where the text is.
//
//go:wasmexport at
func at() uint32 { return uint32(uintptr(unsafe.Pointer(unsafe.SliceData(text)))) }

// call answers the call in text, whose name has n bytes, and returns the length of the result.
//
//go:wasmexport call
func call(n uint32) uint32 {
	text = []byte(answer(string(text[:n]), text[n:]))
	return uint32(len(text))
}

func main() {
	debug.SetGCPercent(50) // a page's or an agent's memory is worth more than the time of collections
	engine := sequent.New(sequent.Config{Now: increasing()})
	tools := sync.OnceValue(func() map[string]tool.Tool { // contracts are read with the first call
		byName := make(map[string]tool.Tool)
		for _, t := range history.Native(history.Config{Engine: engine}).Tools {
			byName[t.Name] = t
		}
		return byName
	})
	var swept time.Time
	answer = func(name string, args []byte) string {
		ctx := context.Background()
		// Expired sessions are gone for callers. A timer that deletes them would keep the process alive.
		if now := engine.Now(); now.Sub(swept) > sweepEvery {
			swept = now
			_, _ = engine.Sweep(ctx, sequent.Query{AllOwners: true, Expired: now})
		}
		return response(tools()[name].Call(ctx, tool.Call{Args: args}))
	}
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
