package openai_test

import (
	"bytes"
	"io"
	"net/http"
	"testing"

	"github.com/sequent-dev/sequent/llm"
	"github.com/sequent-dev/sequent/llm/openai"
)

// canned gives the same answer to every request.
type canned struct {
	status int
	header http.Header
	body   []byte
}

func (c canned) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: c.status, Header: c.header, Body: io.NopCloser(bytes.NewReader(c.body)), Request: r,
	}, nil
}

// Every response of a service gives an answer or an error with a code.
func FuzzAnswers(f *testing.F) {
	for _, seed := range []string{
		`{"choices":[{"message":{"content":"a","tool_calls":[{"id":"x","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"stop"}],"usage":{}}`,
		`{"choices":[{"message":{"content":[{"type":"text","text":"a"}]}}]}`,
		`{"choices":[{"message":null,"finish_reason":7}]}`, `{"error":{"code":{},"message":[1]}}`, `{"error":"x"}`, `null`, `[]`, ``,
		"data: {\"choices\":[{\"delta\":{\"content\":\"<think>a\"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":-7}]},\"finish_reason\":\"x\"}]}\n\ndata: [DONE]\n",
		"data: {\"error\":{\"message\":\"m\",\"code\":\"c\"}}\n\n", "data:\ndata: null\n: x\nevent: y\ndata: {}\n", "data: {\"choices\":[null]}\n",
	} {
		f.Add(200, []byte(seed))
		f.Add(401, []byte(seed))
	}
	f.Add(429, []byte(`{"error":{"message":"m","code":null,"param":7}}`))
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		header := http.Header{}
		if status%2 == 0 {
			header.Set("Content-Type", "application/json")
		}
		c, err := openai.New(openai.Config{
			Model: "gpt-4o", Getenv: environ("http://model/v1"), MaxAttempts: 1,
			Transport: canned{200 + (status%400+400)%400, header, body},
		})
		if err != nil {
			t.Fatal(err)
		}
		_, _, res, err := collect(t.Context(), c, ask("?"))
		if (err == nil) == (res == nil) || err != nil && llm.CodeOf(err) == "" {
			t.Errorf("%v, %v", res, err)
		}
	})
}
