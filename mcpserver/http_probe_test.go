package mcpserver

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sequent-dev/sequent"
)

// Everybody may ask how the server is, without a token and as often as they like,
// but for a page of another site.
func TestProbes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var fault error
		w := serveInside(t, HTTPConfig{Auth: testAuth, Rate: 1.0 / 64, Burst: 1, Ready: func(context.Context) error { return fault }})
		for range 3 {
			w.want("GET /healthz", http.StatusOK, `{"status":"ok"}`)
			w.want("GET /readyz", http.StatusOK, `{"status":"ready"}`)
		}
		if a := w.want("HEAD /readyz", http.StatusOK); a.body != "" {
			t.Errorf("HEAD has the body %q", a.body)
		}
		w.want("GET /readyz\nHost: evil.example", http.StatusForbidden, "no name of this server")
		w.want("GET /healthz\nHost: evil.example", http.StatusForbidden, "no name of this server")
		w.want("GET /healthz/x", http.StatusNotFound)

		fault = &sequent.Error{Code: sequent.CodeUnavailable, Msg: "host db.internal is away", Err: errors.New("password secret")}
		time.Sleep(readyFor)
		a := w.want("GET /readyz", http.StatusServiceUnavailable, `{"status":"not ready","reason":"store_unavailable"}`)
		if strings.Contains(a.body, "secret") || strings.Contains(a.body, "internal") || a.header.Get("Retry-After") == "" {
			t.Errorf("it says %v %s", a.header, a.body)
		}
		w.want("GET /healthz", http.StatusOK)
		fault = nil
		time.Sleep(readyFor)
		w.want("GET /readyz", http.StatusOK)
	})
}

// A draining server reports it, continues to answer, and then ends.
func TestDrain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const drain = 3 * time.Second
		w := serveInside(t, HTTPConfig{Drain: drain})
		call := "POST /mcp/caller\nMcp-Session-Id: " + w.handshake("/mcp/caller") + "\n\n" + ping
		w.want(call, http.StatusOK)
		begun := time.Now()
		w.stop()
		synctest.Wait()
		w.want("GET /readyz", http.StatusServiceUnavailable, `"reason":"draining"`)
		w.want("GET /healthz", http.StatusOK)
		w.want(call, http.StatusOK)
		client := http.Client{Transport: &http.Transport{DialContext: w.dialer}}
		res, err := client.Get("http://" + w.addr + "/healthz")
		if err != nil || !res.Close {
			t.Fatalf("the connection stays after %+v, %v", res, err)
		}
		res.Body.Close()
		if err := <-w.done; err != nil || time.Since(begun) < drain {
			t.Errorf("it ends with %v after %v, want nil after %v", err, time.Since(begun), drain)
		}
	})
}

func TestReadiness(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		looks, fault := 0, error(nil)
		hang := false
		r := readiness{check: func(ctx context.Context) error {
			looks++
			if hang {
				<-ctx.Done()
				return ctx.Err()
			}
			return fault
		}}
		want := func(why string, n int, told bool) {
			t.Helper()
			got, err := r.ask(t.Context())
			if got != why || looks != n || (err != nil) != told {
				t.Errorf("ask = %q, %v after %d looks; want %q, %v after %d", got, err, looks, why, told, n)
			}
		}
		want("", 1, false)
		want("", 1, false)
		time.Sleep(readyFor)
		fault = &sequent.Error{Code: sequent.CodeOtherFormat}
		want("store_other_format", 2, true)
		want("store_other_format", 2, false)
		time.Sleep(readyFor)
		want("store_other_format", 3, false) // nobody is told twice
		time.Sleep(readyFor)
		hang = true
		begun := time.Now()
		want("store_timeout", 4, true)
		if time.Since(begun) != checkTimeout {
			t.Errorf("it takes %v", time.Since(begun))
		}
		time.Sleep(readyFor)
		hang, fault = false, nil
		want("", 5, false)
		r.check = nil
		want("", 5, false)
	})
}

func TestCheckAddress(t *testing.T) {
	t.Parallel()
	for addr, want := range map[string]string{
		"127.0.0.1:8080": "", "127.9.9.9:0": "", "[::1]:8080": "", "localhost:80": "", "LOCALHOST.:80": "", "[::ffff:127.0.0.1]:1": "",
		"0.0.0.0:8080": "other machines", ":8080": "other machines", "[::]:80": "other machines", "192.168.1.1:80": "other machines",
		"example.com:80": "other machines", "localhost.example.com:80": "other machines",
		"8080": "not an address", "::1:80": "not an address", "": "not an address",
	} {
		err := CheckAddress(addr)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("CheckAddress(%q) = %v, want %q in it", addr, err, want)
		}
	}
}
