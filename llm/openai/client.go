// Package openai is a client for the Chat Completions protocol. It supports OpenAI,
// OpenRouter, Z.ai, Ollama and, at a configured URL, any compatible service.
//
// The model's name selects the provider ([Resolve]). Keys and URLs come only from
// the environment, and no error contains a key. The table in [Providers] holds all
// differences between providers.
package openai

import (
	"cmp"
	"context"
	"iter"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/sequent-dev/sequent/llm"
)

// A Config configures a [Client] or an [Embedder].
type Config struct {
	// Model names the model. A prefix, as in [Provider.Prefix], selects its provider.
	// Without one, "glm-…" selects Z.ai, a name with a slash OpenRouter, and any
	// other name OpenAI or the service at OPENAI_BASE_URL. Empty means the model of the
	// environment, otherwise that of the first provider that has a key.
	Model  string
	Getenv func(string) string // returns variables with keys and URLs; nil means os.Getenv
	// Timeout limits each attempt: the wait for an answer and for each of its pieces. 0
	// means a minute. A request is not retried if the provider's Retry-After exceeds Timeout.
	Timeout     time.Duration
	MaxAttempts int // maximum attempts per request; 0 means 3
	// Transport makes the requests; nil means the default one. Redirects are not followed:
	// the conversation would go to another service.
	Transport http.RoundTripper
}

// The defaults of a Config, and the maximum bytes of an answer.
const (
	defaultTimeout     = time.Minute
	defaultMaxAttempts = 3
	maxBody            = 16 << 20
)

// A Client sends requests to one model. It implements [llm.Model].
type Client struct {
	caller
	provider string
	name     string // as the user wrote it
	model    string // as the provider knows it
	quirks   modelQuirks

	mu          sync.Mutex
	unsupported map[option]bool // options that the model has rejected
}

// New returns a client without making a request. The error is an [*llm.Error] if
// no model is configured or the environment has no key for it.
func New(cfg Config) (*Client, error) {
	if cfg.Getenv == nil {
		cfg.Getenv = os.Getenv
	}
	name, err := choose(cfg.Model, cfg.Getenv)
	if err != nil {
		return nil, err
	}
	provider, model := resolve(name)
	if model == "" {
		return nil, &llm.Error{
			Code: llm.CodeNoModel, Msg: name + " is a provider without a model",
			Fix: "add the model's name: " + provider.Prefix + "NAME",
		}
	}
	at, err := provider.endpoint(cfg.Getenv)
	if err != nil {
		return nil, err
	}
	return &Client{
		caller: newCaller(at, cfg), provider: strings.TrimSuffix(provider.Prefix, ":"), name: name, model: model,
		quirks: provider.quirksOf(model), unsupported: make(map[option]bool),
	}, nil
}

// Name returns the model's name as it was configured.
func (c *Client) Name() string { return c.name }

// Provider returns the prefix of the provider, without the colon, such as openai.
func (c *Client) Provider() string { return c.provider }

// Stream yields the answer in pieces.
func (c *Client) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		stopped := false
		emit := func(e llm.Event) bool {
			stopped = stopped || !yield(e, nil)
			return !stopped
		}
		err := c.retry(ctx, func(ctx context.Context) *failure {
			return c.adapt(c.stream(ctx, r, emit))
		}, func(retry llm.Retry) bool { return emit(llm.Event{Retry: &retry}) })
		if err != nil && !stopped {
			yield(llm.Event{}, err)
		}
	}
}

// adapt records the option that the model has rejected, if f is about one. The
// next attempt omits it.
func (c *Client) adapt(f *failure) *failure {
	if f == nil || f.rejected == "" {
		return f
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	f.adapted = !c.unsupported[f.rejected]
	c.unsupported[f.rejected] = true
	return f
}

func (c *Client) rejects(o option) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.unsupported[o]
}

// A caller sends requests to one endpoint.
type caller struct {
	at          endpoint
	http        *http.Client
	timeout     time.Duration
	maxAttempts int
}

func newCaller(at endpoint, cfg Config) caller {
	return caller{
		at: at, timeout: cmp.Or(cfg.Timeout, defaultTimeout), maxAttempts: cmp.Or(cfg.MaxAttempts, defaultMaxAttempts),
		http: &http.Client{
			Transport:     cfg.Transport,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}
