package mcpserver

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// TestRebinding sends requests as a page does whose name was made to point to an address that
// other machines can reach. What the requests bring along does not make them the server's own.
func TestRebinding(t *testing.T) {
	t.Parallel()
	const lan, evil = "192.168.1.5:8080", "evil.example:8080"
	for _, tt := range []struct {
		name, host, origin string
		cfg                HTTPConfig
		status             int
		fix                string
	}{
		{"rebound", evil, "http://" + evil, HTTPConfig{}, http.StatusForbidden, "--public-url"},
		{"rebound, with a token", evil, "http://" + evil, HTTPConfig{Auth: testAuth}, http.StatusForbidden, "--public-url"},
		{"rebound, without Origin", evil, "", HTTPConfig{}, http.StatusForbidden, "--public-url"},
		{"a page of another site", lan, "http://" + evil, HTTPConfig{}, http.StatusForbidden, "--allow-origin"},
		{"a client by address", lan, "", HTTPConfig{}, http.StatusOK, ""},
		{"a client by address, with a token", lan, "", HTTPConfig{Auth: testAuth}, http.StatusOK, ""},
		{"a client by name, with a token", "nas.local:8080", "", HTTPConfig{Auth: testAuth}, http.StatusOK, ""},
		{"a client by the public name", "think.lan:8080", "", HTTPConfig{PublicURL: "http://think.lan:8080"}, http.StatusOK, ""},
		{"a page of the public name", "think.lan:8080", "http://think.lan:8080", HTTPConfig{PublicURL: "http://think.lan:8080/mcp"}, http.StatusOK, ""},
	} {
		tt.cfg.Servers = []*Server{New(Config{Dialect: callerDialect()})}
		h, err := NewHTTP(tt.cfg)
		if err != nil {
			t.Fatal(err)
		}
		at := context.WithValue(t.Context(), http.LocalAddrContextKey, net.Addr(&net.TCPAddr{IP: net.IPv4(192, 168, 1, 5), Port: 8080}))
		r := httptest.NewRequestWithContext(at, http.MethodPost, "/mcp", strings.NewReader(helloLine))
		r.Host = tt.host
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer token-a")
		if tt.origin != "" {
			r.Header.Set("Origin", tt.origin)
			r.Header.Set("Sec-Fetch-Site", "same-origin")
		}
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != tt.status || !strings.Contains(w.Body.String(), tt.fix) {
			t.Errorf("%s: %d %s; want %d and %q", tt.name, w.Code, w.Body, tt.status, tt.fix)
		}
	}
}

// TestAmbiguousRequests sends requests that an intermediary may understand in another way.
func TestAmbiguousRequests(t *testing.T) {
	t.Parallel()
	w := serveHTTP(t, HTTPConfig{})
	for _, path := range []string{"/mcp%2fcaller", "/mcp%2Fcaller", "/%6dcp", "/ws%2fcaller", "/mcp/caller%2f"} {
		w.want("POST "+path+"\n\n"+helloLine, http.StatusNotFound)
	}
	w.want("POST /mcp/caller/\n\n"+helloLine, http.StatusOK)
	own := "Origin: http://" + w.addr + "\r\n"
	for headers, want := range map[string]string{
		"Host: " + w.addr + "\r\n" + own:                                  "200",
		"Host: " + w.addr + "\r\n" + own + own:                            "403",
		"Host: " + w.addr + "\r\n" + own + "Origin: http://evil.test\r\n": "403",
		"Host: " + w.addr + "\r\nHost: evil.test\r\n":                     "400",
		"Host: " + w.addr + "\r\nHost: " + w.addr + "\r\n":                "400",
	} {
		c := w.dial()
		fmt.Fprintf(c, "POST /mcp HTTP/1.1\r\n%sContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", headers, len(helloLine), helloLine)
		line, err := bufio.NewReader(c).ReadString('\n')
		if err != nil || !strings.HasPrefix(line, "HTTP/1.1 "+want) {
			t.Errorf("%q: %q, %v; want %s", headers, line, err, want)
		}
	}
}

// dial opens a connection on which a test has a minute.
func (w *site) dial() net.Conn {
	w.t.Helper()
	c, err := net.Dial("tcp", w.addr)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	return c
}

// TestWriteFirst sends bodies over the limit whole before it reads the answer, as some clients do.
func TestWriteFirst(t *testing.T) {
	t.Parallel()
	w := serveHTTP(t, HTTPConfig{})
	body := strings.Repeat(" ", 8<<20)
	chunked := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body), body)
	for header, body := range map[string]string{fmt.Sprintf("Content-Length: %d", len(body)): body, "Transfer-Encoding: chunked": chunked} {
		c := w.dial()
		if _, err := fmt.Fprintf(c, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n%s\r\n\r\n%s", header, body); err != nil {
			t.Errorf("%s: the server stopped reading: %v", header, err)
			continue
		}
		time.Sleep(10 * time.Millisecond) // a reset that was on its way has come
		reply, err := io.ReadAll(c)
		if err != nil || !strings.HasPrefix(string(reply), "HTTP/1.1 413 ") || !strings.Contains(string(reply), "longer than 4194304 bytes") {
			t.Errorf("%s: %q, %v", header, reply, err)
		}
	}
	// What cannot be read to its end is not read at all.
	c := w.dial()
	fmt.Fprintf(c, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", int64(1)<<40)
	if reply, err := io.ReadAll(c); err != nil || !strings.HasPrefix(string(reply), "HTTP/1.1 413 ") {
		t.Errorf("%q, %v", reply, err)
	}
}

// TestBadFrames sends frames that must end a WebSocket (RFC 6455, section 7.4.1).
func TestBadFrames(t *testing.T) {
	t.Parallel()
	w := serveHTTP(t, HTTPConfig{MaxBody: 1 << 20})
	frame := func(first byte, announced uint64, payload string) string { // masked with zeros
		b := binary.BigEndian.AppendUint64([]byte{first, 0x80 | 127}, announced)
		return string(b) + "\x00\x00\x00\x00" + payload
	}
	for _, tt := range []struct {
		name, sent string
		want       websocket.StatusCode
	}{
		{"invalid UTF-8", frame(0x81, 2, "\xc3\x28"), websocket.StatusInvalidFramePayloadData},
		{"no text", frame(0x82, 2, "{}"), websocket.StatusUnsupportedData},
		{"a surrogate", frame(0x81, 3, "\xed\xa0\x80"), websocket.StatusInvalidFramePayloadData},
		{"half a character", frame(0x01, 1, "\xc3") + frame(0x80, 1, "\x28"), websocket.StatusInvalidFramePayloadData},
		{"as much in two frames", frame(0x01, 1<<20, strings.Repeat(" ", 1<<20)) + frame(0x80, 1, " ")[:15], websocket.StatusMessageTooBig},
	} {
		for _, piece := range []int{1 << 30, 3} { // also when the header comes in pieces, and with the handshake
			if piece < 100 && len(tt.sent) > 1000 {
				continue
			}
			c, sent := w.dial(), upgrade+tt.sent
			for len(sent) > 0 {
				n := min(len(sent), piece)
				if _, err := io.WriteString(c, sent[:n]); err != nil {
					t.Fatal(err)
				}
				sent = sent[n:]
			}
			if got, err := closing(c); err != nil || got != tt.want {
				t.Errorf("%s in pieces of %d: %d, %v; want the end with status %d", tt.name, piece, got, err, tt.want)
			}
			_ = c.Close() // the server waits for the closing handshake
		}
	}

	// A client that sends all of a long frame before it reads is told, and its end is heard. The server does not
	// wait for the rest of a frame that is announced.
	for _, sent := range []string{frame(0x81, 2<<20, strings.Repeat(" ", 2<<20)) + frame(0x88, 2, "\x03\xe8"), frame(0x81, 1<<40, strings.Repeat(" ", 1<<20+100))} {
		c := w.dial()
		fmt.Fprintf(c, "%s%s", upgrade, sent)
		if got, err := closing(c); err != nil || got != websocket.StatusMessageTooBig {
			t.Errorf("after a long frame: %d, %v", got, err)
		}
		if rest, err := io.ReadAll(c); err != nil || len(rest) > 0 {
			t.Errorf("after the end: %q, %v", rest, err)
		}
	}
}

// upgrade begins a WebSocket.
const upgrade = "GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"

// closing reads the answer to upgrade and short frames until one closes the WebSocket, and
// returns its status.
func closing(c net.Conn) (websocket.StatusCode, error) {
	in := bufio.NewReader(c)
	if res, err := http.ReadResponse(in, nil); err != nil || res.StatusCode != http.StatusSwitchingProtocols {
		return 0, fmt.Errorf("%v, %w", res, err)
	}
	for {
		var head [2]byte
		if _, err := io.ReadFull(in, head[:]); err != nil {
			return 0, err
		}
		payload := make([]byte, head[1])
		if _, err := io.ReadFull(in, payload); err != nil {
			return 0, err
		}
		if head[0] == 0x88 {
			return websocket.StatusCode(binary.BigEndian.Uint16(payload)), nil
		}
	}
}
