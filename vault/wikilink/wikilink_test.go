package wikilink_test

import (
	"slices"
	"testing"

	"github.com/sequent-dev/sequent/vault/wikilink"
)

func TestNormalize(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, want string }{
		{"", ""}, {"JWT", "jwt"}, {"  Rate Limiting\t", "rate-limiting"}, {"rate_limiting", "rate-limiting"},
		{"rate - _/ limiting", "rate-limiting"}, {"workflow/workflow-1756610500000", "workflow-workflow-1756610500000"},
		{"/tech//auth/", "tech-auth"}, {"_private", "private"}, {"--", ""}, {" / _ ", ""},
		{"non\u00A0breaking\u3000spaces", "non-breaking-spaces"}, {"two\nlines", "two-lines"}, {"ÄÖÜ Straße", "äöü-straße"},
		{"Cafe\u0301", "café"}, {"İstanbul", "istanbul"}, {"ΣΊΣΥΦΟΣ", "σίσυφοσ"}, {"ЁЛКА", "ёлка"}, {"思考 链", "思考-链"},
		{"か\u3099", "が"}, {"\u212Aelvin", "kelvin"}, {"C++ / C#", "c++-c#"}, {"v1.2", "v1.2"},
		{"👩\u200D💻 coder", "👩\u200D💻-coder"}, {"bad\xffbyte", "bad\uFFFDbyte"},
	} {
		if got := wikilink.Normalize(test.text); got != test.want {
			t.Errorf("Normalize(%q) = %q, want %q", test.text, got, test.want)
		}
	}
}

func TestConcepts(t *testing.T) {
	t.Parallel()
	text := "[[B b]] [[a]] [[b_B|again]] [[#here]] [[c#part]] ![[D]]"
	got := wikilink.Concepts(wikilink.Parse([]byte(text)))
	if want := []string{"b-b", "a", "c", "d"}; !slices.Equal(got, want) {
		t.Errorf("Concepts of %q = %q, want %q", text, got, want)
	}
	for text, want := range map[string]bool{"": false, "[[#here]]": false, "`[[a]]`": false, "x [[a]]": true} {
		if got := wikilink.HasConcept([]byte(text)); got != want {
			t.Errorf("HasConcept(%q) = %v, want %v", text, got, want)
		}
	}
}
