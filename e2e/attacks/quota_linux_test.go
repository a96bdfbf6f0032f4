package attacks

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// appendQuota is what the sessions of one owner may have in the attack appends.
const appendQuota = 8 << 20 // bytes

// appends records thoughts of 48 KB on 16 connections until the quota stops them, and
// goes on trying.
func appends(m *mallory) {
	args := fmt.Sprintf(`"name":"sequentialthinking","arguments":{"nextThoughtNeeded":true,"thought":%q`, strings.Repeat("x", 48_000))
	var stored, beyond atomic.Int64
	m.repeat(16, func(int) {
		c, err := m.dial()
		if err != nil {
			m.refused.Add(1)
			return
		}
		defer c.Close()
		r := bufio.NewReader(c)
		session := ""
		for m.ctx.Err() == nil {
			more := `,"thoughtNumber":1,"totalThoughts":9}`
			if session != "" {
				more = fmt.Sprintf(`,"sessionId":%q}`, session)
			}
			_ = c.SetDeadline(time.Now().Add(time.Minute))
			res, body, err := ask(c, r, m.request("tools/call", "", "sequentialthinking", args+more))
			switch {
			case err != nil:
				return
			case bytes.Contains(body, []byte("QUOTA_EXCEEDED")):
				beyond.Add(1)
				m.refused.Add(1)
			case res.StatusCode != 200:
				m.refused.Add(1)
			default:
				stored.Add(1)
				if session == "" {
					session = sessionOf(m, body)
				}
			}
		}
	})
	m.wait("a refusal by the quota", func() bool { return beyond.Load() > 0 })
	m.say("%d thoughts of 48 KB were stored", stored.Load())
}

// checkQuota checks what each owner has in the store after the attack.
func checkQuota(t *testing.T, program, store string) {
	out, err := exec.Command(program, "server", "owners", "--store", store, "--json").Output()
	var usage struct {
		Owners []struct {
			Owner string
			Bytes int64
		}
	}
	if err == nil {
		err = json.Unmarshal(out, &usage)
	}
	if err != nil {
		t.Fatalf("sequent server owners: %s, %v", out, err)
	}
	t.Logf("usage: %s", bytes.TrimSpace(out))
	seen := 0
	for _, u := range usage.Owners {
		switch u.Owner {
		case "alice":
			seen++
		case "mallory":
			seen++
			if u.Bytes > appendQuota || u.Bytes < appendQuota-100_000 {
				t.Errorf("mallory has %d bytes, want almost %d", u.Bytes, appendQuota)
			}
		}
	}
	if seen != 2 {
		t.Errorf("usage has %d of the 2 owners", seen)
	}
}
