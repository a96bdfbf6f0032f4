package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A server is a process that is spoken to.
type server struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	number int // of the last thought
}

const handshake = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}
`

// start returns a server that has answered the handshake.
func start(ctx context.Context, command []string) (*server, error) {
	v := &server{cmd: exec.CommandContext(ctx, command[0], command[1:]...)}
	v.cmd.Env = append(os.Environ(), "DISABLE_THOUGHT_LOGGING=true")
	var err error
	if v.in, err = v.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := v.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	v.out = bufio.NewReaderSize(out, 1<<20)
	if err := v.cmd.Start(); err != nil {
		return nil, err
	}
	if _, err := io.WriteString(v.in, handshake); err != nil {
		return nil, err
	}
	if line, err := v.out.ReadSlice('\n'); err != nil {
		return nil, fmt.Errorf("after %q: %w", line, err)
	}
	_, err = io.WriteString(v.in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	return v, err
}

func (v *server) close() error {
	err := v.in.Close()
	if _, err := io.Copy(io.Discard, v.out); err != nil {
		return err
	}
	if waited := v.cmd.Wait(); waited != nil {
		return waited
	}
	return err
}

// think records thoughts, so many at a time without an answer.
func (v *server) think(calls, size, window int) (phase, error) {
	times := make([]float64, 0, calls)
	sent := make([]time.Time, 0, calls)
	begun, cpu := time.Now(), v.cpu()
	for len(times) < calls {
		if len(sent) < calls && len(sent)-len(times) < window {
			v.number++
			sent = append(sent, time.Now())
			if _, err := v.in.Write(v.request(size)); err != nil {
				return phase{}, err
			}
			continue
		}
		line, err := v.out.ReadSlice('\n')
		if err != nil {
			return phase{}, fmt.Errorf("after %d replies: %w", len(times), err)
		}
		id := fmt.Appendf(nil, `"id":%d`, v.number-len(sent)+len(times)+1)
		if !bytes.Contains(line, id) || bytes.Contains(line, []byte(`"isError":true`)) || bytes.Contains(line, []byte(`"error":{`)) {
			return phase{}, fmt.Errorf("reply %s, want one to %s", line, id)
		}
		times = append(times, time.Since(sent[len(times)]).Seconds())
	}
	took, spent := time.Since(begun).Seconds(), v.cpu()-cpu
	slices.Sort(times)
	return phase{
		rate: float64(calls) / took, cpu: spent / float64(calls),
		median: times[calls/2], late: times[calls*99/100],
	}, nil
}

func (v *server) request(size int) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"sequentialthinking","arguments":`+
		`{"thought":"%s","thoughtNumber":%d,"totalThoughts":1000000,"nextThoughtNeeded":true}}}`+"\n", v.number, words(v.number, size), v.number)
}

// words returns a text of its own for each number.
func words(number, size int) string {
	var text strings.Builder
	for i := 0; text.Len() < size; i++ {
		fmt.Fprintf(&text, "word%d ", number*7+i)
	}
	return text.String()[:size]
}

// cpu returns the seconds that the process has run, where the system tells.
func (v *server) cpu() float64 {
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", v.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	total := 0.0
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			continue // the thread has ended
		}
		first, _, _ := strings.Cut(string(data), " ")
		ns, _ := strconv.ParseFloat(first, 64)
		total += ns / 1e9
	}
	return total
}

// resident returns the bytes of memory in use, where the system tells.
func (v *server) resident() float64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", v.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return kib * 1024
		}
	}
	return 0
}

// syncLoop returns how often a second a short text can be made durable.
func syncLoop(path string, size int, during time.Duration) (float64, error) {
	f, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	text := make([]byte, size)
	n := 0
	begun := time.Now()
	for time.Since(begun) < during {
		if _, err := f.Write(text); err != nil {
			return 0, err
		}
		if err := datasync(f); err != nil {
			return 0, err
		}
		n++
	}
	return float64(n) / time.Since(begun).Seconds(), nil
}
