// Package openai asks language models that speak the Chat Completions protocol:
// those of OpenAI, OpenRouter, Z.ai and Ollama, and of any service at another URL
// that speaks it too.
//
// A model's name says whose it is ([Resolve]). Keys and URLs come from the
// environment and from nowhere else, and a key is in no error. How providers
// differ is in one table, [Providers].
package openai

import (
	"cmp"
	"context"
	"iter"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/sequent-dev/sequent/llm"
)

// A Config configures a [Client].
type Config struct {
	Model  string              // as [Resolve] takes it; empty means as [Choose] does
	Getenv func(string) string // the environment, with keys and URLs; nil means os.Getenv
	// Timeout is how long to wait for an answer, and while one is streamed for
	// its next piece; 0 means a minute. It holds for each try. A provider that
	// asks to be left alone for longer is not asked again.
	Timeout time.Duration
	Tries   int   // how often a request is made, at most; 0 means 3
	MaxBody int64 // bytes of an answer as it is read; 0 means 16 MiB
	// HTTP makes the requests; nil means a client of this package's own. It should
	// not follow redirects.
	HTTP *http.Client
}

// The defaults of a Config.
const (
	DefaultTimeout = time.Minute
	DefaultTries   = 3
	defaultMaxBody = 16 << 20
)

// A Client asks one model. It implements [llm.Model].
type Client struct {
	caller
	name  string // as the user wrote it
	model string // as the provider knows it
	about modelQuirks

	mu      sync.Mutex
	without map[string]bool // what the model has refused to be told
}

// New returns a client. It makes no request. If no model is chosen, or the
// environment has no key for it, the error is an [*llm.Error].
func New(cfg Config) (*Client, error) {
	if cfg.Getenv == nil {
		cfg.Getenv = os.Getenv
	}
	name, err := Choose(cfg.Model, cfg.Getenv)
	if err != nil {
		return nil, err
	}
	provider, model := Resolve(name)
	if model == "" {
		return nil, &llm.Error{
			Code: llm.CodeNoModel, Msg: name + " names no model",
			Fix: "add its name, as in " + provider.Prefix + "NAME",
		}
	}
	at, err := provider.locate(cfg.Getenv)
	if err != nil {
		return nil, err
	}
	return &Client{
		caller: newCaller(at, cfg), name: name, model: model,
		about: provider.about(model), without: make(map[string]bool),
	}, nil
}

// Name returns the model's name as it was chosen.
func (c *Client) Name() string { return c.name }

// Chat returns the whole answer.
func (c *Client) Chat(ctx context.Context, r llm.Request) (llm.Response, error) {
	var answer llm.Response
	err := c.persist(ctx, func(ctx context.Context) *failure {
		var f *failure
		answer, f = c.chat(ctx, r)
		return c.adapt(f)
	}, func(llm.Retry) bool { return true })
	return answer, err
}

// Stream yields the answer as it comes.
func (c *Client) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		left := false
		tell := func(e llm.Event) bool {
			left = left || !yield(e, nil)
			return !left
		}
		err := c.persist(ctx, func(ctx context.Context) *failure {
			return c.adapt(c.stream(ctx, r, tell))
		}, func(retry llm.Retry) bool { return tell(llm.Event{Retry: &retry}) })
		if err != nil && !left {
			yield(llm.Event{}, err)
		}
	}
}

// adapt remembers what the model has refused to be told, so that the request is
// made again without it.
func (c *Client) adapt(f *failure) *failure {
	if f == nil || f.drop == "" {
		return f
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	f.changed = !c.without[f.drop]
	c.without[f.drop] = true
	return f
}

func (c *Client) dropped(what string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.without[what]
}

// A caller makes requests of one endpoint.
type caller struct {
	at      endpoint
	http    *http.Client
	timeout time.Duration
	tries   int
	maxBody int64
}

func newCaller(at endpoint, cfg Config) caller {
	c := caller{
		at: at, http: cfg.HTTP,
		timeout: cmp.Or(cfg.Timeout, DefaultTimeout), tries: cmp.Or(cfg.Tries, DefaultTries),
		maxBody: cmp.Or(cfg.MaxBody, defaultMaxBody),
	}
	if c.http == nil {
		c.http = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	return c
}
