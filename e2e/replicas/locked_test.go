//go:build unix

package replicas

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sequent-dev/sequent/e2e/programtest"
)

// While another program has a session's row locked, calls for it wait, calls for others are
// answered, and the server is ready.
func TestReadinessOfLockedSession(t *testing.T) {
	store := database.Schema(t)
	c := newCluster(t, programtest.Build(t), store)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	ready := func() string {
		t.Helper()
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(c.url(0), "/mcp")+"/readyz", nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(body))
	}
	waitFor := func(want string) {
		t.Helper()
		got := ready()
		for ; got != want; got = ready() {
			select {
			case <-ctx.Done():
				t.Fatalf("/readyz says %s, want %s", got, want)
			case <-time.After(50 * time.Millisecond):
			}
		}
	}
	think := func(scope, session, text string) (string, error) {
		client := c.client(rand.New(rand.NewPCG(1, 2)), true, scope)
		answer, err := client.callOf(ctx, 0, "sequentialthinking", inJSON(arguments{Thought: text, Total: 10, More: true, SessionID: session}))
		var r reply
		if err == nil {
			err = json.Unmarshal([]byte(answer), &r)
		}
		return cmp.Or(session, r.SessionID), err
	}
	const healthy = `{"status":"ready"}`
	locked, err := think("locked", "", "before the lock")
	if err != nil {
		t.Fatal(err)
	}
	waitFor(healthy)

	conn, err := pgx.Connect(ctx, store)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	tx, err := conn.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(ctx, "SELECT FROM tool_sessions WHERE id = $1 FOR UPDATE", locked); err != nil {
		t.Fatal(err)
	}
	late := make(chan error, 1)
	go func() {
		_, err := think("locked", locked, "during the lock")
		late <- err
	}()
	if _, err := think("other", "", "in another session"); err != nil {
		t.Errorf("a call for another session: %v", err)
	}
	waitFor(healthy)
	select {
	case err := <-late:
		t.Errorf("the call for the locked session ended during the lock, with %v", err)
	default:
	}
	if err := tx.Rollback(ctx); err != nil {
		t.Fatal(err)
	}
	if err := <-late; err != nil {
		t.Errorf("the call for the session that was locked: %v", err)
	}
	waitFor(healthy)
}
