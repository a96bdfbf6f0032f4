package words_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent/words"
)

func TestForms(t *testing.T) {
	t.Parallel()
	for _, same := range []string{
		"pool pools pooled pooling",
		"index indexes indices indexed indexing",
		"retry retries retried retrying",
		"lock locks locked locking",
		"query queries queried querying",
		"cause causes caused causing",
		"cache caches cached caching",
		"batch batches batched batching",
		"hash hashes hashed hashing",
		"process processes processed processing",
		"deploy deploys deployed deploying",
		"stop stops stopped stopping",
		"plan plans planned planning",
		"log logs logged logging",
		"call calls called calling",
		"miss misses missed missing",
		"commit commits committed committing",
		"buffer buffers buffered buffering",
		"cancel cancels canceled cancelled canceling cancelling",
		"panic panics panicked panicking",
		"queue queues queued queuing queueing",
		"free frees freed freeing",
		"die dies died dying",
		"setting settings",
		"warn warning warnings",
		"status statuses",
		"alias aliases",
		"analysis analyses",
		"hypothesis hypotheses",
		"matrix matrices",
		"epoch epochs",
		"run ran running runs",
		"write wrote written writing writes",
		"send sent sending sends",
		"child children",
		"id ids",
		"quit quits quitting",
	} {
		forms := strings.Fields(same)
		for _, a := range forms {
			got := words.Forms(a)
			if got[0] != a {
				t.Errorf("Forms(%q) begins with %q", a, got[0])
			}
			for _, b := range forms {
				if !slices.Contains(got, b) {
					t.Errorf("Forms(%q) = %q, without %q", a, got, b)
				}
			}
		}
	}
	for _, test := range []struct{ token, others string }{
		{"thing", "th the this"},
		{"string", "str stre"},
		{"bring", "br"},
		{"need", "ne"},
		{"feed", "fee fees"},
		{"seed", "see"},
		{"bus", "bu"},
		{"ios", "io"},
		{"dns", "dn"},
		{"https", "http"},
		{"http", "https"},
		{"class", "clas cla"},
		{"cases", "cas"},
		{"bases", "bas"},
		{"staring", "star"},
		{"star", "staring"},
		{"planed", "plan"},
		{"rating", "rat"},
		{"called", "cal"},
		{"adding", "ad"},
		{"uses", "us"},
		{"being", "be"},
		{"doing", "do"},
		{"shed", "she"},
		{"evening", "even"},
		{"nothing", "noth"},
		{"news", "new"},
		{"lens", "len"},
		{"thus", "thu"},
		{"indexer", "index"},
		{"worker", "work"},
		{"post", "postgres"},
	} {
		got := words.Forms(test.token)
		for other := range strings.FieldsSeq(test.others) {
			if slices.Contains(got, other) {
				t.Errorf("Forms(%q) = %q, with %q", test.token, got, other)
			}
		}
	}
	for _, token := range []string{"", "a", "the", "not", "b2bs", "größe", "令", "v1", "404", "tcp", "ms", strings.Repeat("na", 20)} {
		if got := words.Forms(token); !slices.Equal(got, []string{token}) {
			t.Errorf("Forms(%q) = %q, want no others", token, got)
		}
	}
}

// Forms are tokens, few, and begin with the word itself.
func FuzzForms(f *testing.F) {
	for _, s := range []string{"pool", "retries", "caused", "sting", "ed", "ings", "sses", "ices", "yying", "bases"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, token string) {
		forms := words.Forms(token)
		if forms[0] != token || len(forms) > 40 {
			t.Fatalf("Forms(%q) = %q", token, forms)
		}
		for _, form := range forms[1:] {
			if len(form) < 2 || !slices.Equal(words.Tokens(form), []string{form}) {
				t.Fatalf("Forms(%q) contains %q, which is not one token", token, form)
			}
		}
	})
}
