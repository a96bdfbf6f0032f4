package command

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// mcpClient is the program mcp of the scripts. It sends one request to an HTTP
// server, without code of the project.
//
//	mcp [flags] URL METHOD [NAME] [JSON]
//
// JSON is the arguments of a tool or a prompt. It prints the status, some headers
// and the body. Without -modern and -session it initializes an MCP session first.
func mcpClient() {
	flags := flag.NewFlagSet("mcp", flag.ExitOnError)
	modern := flags.Bool("modern", false, "use MCP 2026-07-28")
	token := flags.String("token", "", "bearer token")
	session := flags.String("session", "", "MCP session")
	origin := flags.String("origin", "", "origin")
	if err := flags.Parse(os.Args[1:]); err != nil || flags.NArg() < 2 {
		fmt.Fprintln(os.Stderr, "usage: mcp [flags] URL METHOD [NAME] [JSON]")
		os.Exit(2)
	}
	url, method := flags.Arg(0), flags.Arg(1)
	params := map[string]any{}
	name := flags.Arg(2)
	switch {
	case method == "resources/read":
		params["uri"] = name
	case name != "":
		params["name"] = name
		params["arguments"] = json.RawMessage(flags.Arg(3))
	}
	if *modern {
		params["_meta"] = map[string]any{
			"io.modelcontextprotocol/protocolVersion":    "2026-07-28",
			"io.modelcontextprotocol/clientInfo":         map[string]string{"name": "script", "version": "1"},
			"io.modelcontextprotocol/clientCapabilities": map[string]any{},
		}
	}
	post := func(method string, message map[string]any) *http.Response {
		message["jsonrpc"], message["method"] = "2.0", method
		body, err := json.Marshal(message)
		if err != nil {
			panic(err)
		}
		req, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(body))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		set := func(key, value string) {
			if value != "" {
				req.Header.Set(key, value)
			}
		}
		set("Content-Type", "application/json")
		set("Accept", "application/json, text/event-stream")
		set("Mcp-Session-Id", *session)
		set("Origin", *origin)
		if *token != "" {
			set("Authorization", "Bearer "+*token)
		}
		if *modern {
			set("Mcp-Protocol-Version", "2026-07-28")
			set("Mcp-Method", method)
			set("Mcp-Name", name)
		} else {
			set("Mcp-Protocol-Version", "2025-06-18")
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return res
	}
	var res *http.Response
	if !*modern && *session == "" {
		res = post("initialize", map[string]any{"id": 0, "params": map[string]any{
			"protocolVersion": "2025-06-18", "capabilities": map[string]any{},
			"clientInfo": map[string]string{"name": "script", "version": "1"},
		}})
		if *session = res.Header.Get("Mcp-Session-Id"); *session != "" {
			res.Body.Close()
			post("notifications/initialized", map[string]any{}).Body.Close()
			res = nil
		}
	}
	if res == nil {
		res = post(method, map[string]any{"id": 1, "params": params})
	}
	fmt.Println("HTTP", res.StatusCode)
	for _, key := range []string{"Www-Authenticate", "Retry-After", "Access-Control-Allow-Origin"} {
		if v := res.Header.Get(key); v != "" {
			fmt.Printf("%s: %s\n", key, v)
		}
	}
	if *session != "" {
		fmt.Println("Session:", *session)
	}
	defer res.Body.Close()
	if _, err := io.Copy(os.Stdout, res.Body); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	fmt.Println()
}

// A webServer is the HTTP server of a script.
type webServer struct {
	cmd  *exec.Cmd
	rest chan string // its standard error after the line with the URL
}

// startServer implements the script command server.
func startServer(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("usage: server args...")
	}
	args = append([]string{"serve", "--http", "127.0.0.1:0", "--log-level", "info"}, args...)
	cmd := exec.Command("sequent", args...)
	cmd.Dir = ts.Getenv("WORK")
	for _, name := range []string{"HOME", "USERPROFILE", "XDG_DATA_HOME", "LocalAppData", "PATH", "TMPDIR", "SystemRoot", "GORACE", "GOCOVERDIR", "SEQUENT_AUTH"} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	stderr, err := cmd.StderrPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	s := &webServer{cmd: cmd, rest: make(chan string, 1)}
	url := make(chan string, 1)
	go func() {
		var rest strings.Builder
		found := regexp.MustCompile(`url=(\S+)`)
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			if m := found.FindStringSubmatch(lines.Text()); m != nil {
				url <- m[1]
				continue
			}
			rest.WriteString(lines.Text() + "\n")
		}
		s.rest <- rest.String()
		close(url)
	}()
	ts.Defer(func() { _ = cmd.Process.Kill() })
	select {
	case u, ok := <-url:
		if !ok {
			ts.Fatalf("the server exited: %s", <-s.rest)
		}
		ts.Setenv("URL", u)
		ts.Setenv("HOSTPORT", strings.TrimSuffix(strings.TrimPrefix(u, "http://"), "/mcp"))
	case <-time.After(30 * time.Second):
		ts.Fatalf("the server did not print its URL")
	}
	*ts.Value(serverKey{}).(*webServer) = *s
}

// serverKey is the key of a script's *webServer.
type serverKey struct{}

// stopServer implements the script command stopserver. The server's standard error
// becomes that of the command.
func stopServer(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: stopserver")
	}
	s := ts.Value(serverKey{}).(*webServer)
	ts.Check(s.cmd.Process.Signal(syscall.SIGTERM))
	stderr := <-s.rest
	if err := s.cmd.Wait(); err != nil {
		ts.Fatalf("the server ended with %v\n%s", err, stderr)
	}
	_, err := io.WriteString(ts.Stderr(), stderr)
	ts.Check(err)
}
