package openai_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent/llm"
	"github.com/sequent-dev/sequent/llm/llmtest"
	"github.com/sequent-dev/sequent/llm/openai"
)

// No error, and no error that it wraps, contains the key, even if the provider
// repeats it.
func TestErrorsWithoutKey(t *testing.T) {
	echo, err := json.Marshal("header was 'Authorization: Bearer " + secret + "', key " + secret[:12] + "****, you")
	if err != nil {
		t.Fatal(err)
	}
	var replies []llmtest.Reply
	for _, status := range []int{400, 401, 402, 403, 404, 409, 413, 418, 429, 500, 503, 307} {
		for _, body := range []string{
			`{"error":{"message":` + string(echo) + `}}`, `{"error":` + string(echo) + `}`, string(echo), secret,
			`{"error":{"message":` + string(echo) + `,"code":"insufficient_quota"}}`,
		} {
			replies = append(replies, llmtest.Reply{Status: status, Body: body, Header: http.Header{"Retry-After": {"9999"}, "Location": {"http://x/?key=" + secret}}})
		}
	}
	for _, body := range []string{
		secret, `{"error":{"message":` + string(echo) + `,"code":400}}`,
		`{"choices":[{"message":{"refusal":` + string(echo) + `}}]}`,
		"data: {\"error\":{\"message\":" + string(echo) + ",\"code\":400}}\n\n", `{"choices":"` + secret + `"}`, "data: " + secret + "\n\n",
	} {
		replies = append(replies, llmtest.Reply{Body: body})
	}
	for _, reply := range replies {
		for _, model := range []string{"gpt-4o", "a/b", "glm-4.7", "ollama:qwen3"} {
			_, err := answerOf(t.Context(), serve(reply).connect(t, model, once), ask("?"))
			checkNoSecret(t, err)
		}
	}
}

// No error contains the URL, which may contain a key.
func TestErrorsWithoutURL(t *testing.T) {
	c, err := openai.New(openai.Config{Model: "gpt-4o", Getenv: environ("http://me:" + secret + "@127.0.0.1:1/" + secret), MaxAttempts: 1})
	if err != nil {
		t.Fatal(err)
	}
	_, err = answerOf(t.Context(), c, ask("?"))
	if llm.CodeOf(err) != llm.CodeUnavailable {
		t.Error(err)
	}
	checkNoSecret(t, err)
	_, err = openai.New(openai.Config{Model: "gpt-4o", Getenv: environ("ftp://me:" + secret + "@x")})
	checkNoSecret(t, err)
	_, err = openai.New(openai.Config{Model: "gpt-4o", Getenv: func(string) string { return "http://x/ " + secret + "\x00" }})
	checkNoSecret(t, err)
}

func checkNoSecret(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		t.Error("got no error")
	}
	for e := err; e != nil; e = errors.Unwrap(e) {
		for _, format := range []string{"%v", "%+v", "%#v"} {
			if s := fmt.Sprintf(format, e); strings.Contains(s, secret[8:12]) {
				t.Errorf("error contains a part of the key: %s", s)
			}
		}
	}
}
