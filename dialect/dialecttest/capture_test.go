package dialecttest

import (
	"maps"
	"testing"
)

func TestMatch(t *testing.T) {
	tests := []struct {
		got, want string
		before    captures
		after     captures // nil if there is no match
	}{
		{`a`, `a`, captures{}, captures{}},
		{`a`, `b`, captures{}, nil},
		{`ab`, `a`, captures{}, nil},
		{`a.c`, `abc`, captures{}, nil},
		{`{"id":"k3f"}`, `{"id":"$ID1"}`, captures{}, captures{"$ID1": "k3f"}},
		{`k3f and k3f`, `$ID1 and $ID1`, captures{}, captures{"$ID1": "k3f"}},
		{`k3f and k4f`, `$ID1 and $ID1`, captures{}, nil},
		{`k3f and k4f`, `$ID1 and $ID2`, captures{}, captures{"$ID1": "k3f", "$ID2": "k4f"}},
		{`k3f`, `$ID1`, captures{"$ID1": "k3f"}, captures{"$ID1": "k3f"}},
		{`k4f`, `$ID1`, captures{"$ID1": "k3f"}, nil},
		{`"a b"`, `"$ID1"`, captures{}, nil},
		{"a\nb", "a\nb", captures{}, captures{}},
		{`costs $5`, `costs $5`, captures{}, captures{}},
	}
	for _, tt := range tests {
		c := maps.Clone(tt.before)
		ok := c.match(tt.got, tt.want)
		if ok != (tt.after != nil) || ok && !maps.Equal(c, tt.after) {
			t.Errorf("match(%q, %q) with %v is %v and binds %v, want %v", tt.got, tt.want, tt.before, ok, c, tt.after)
		}
	}
}

func TestExpand(t *testing.T) {
	c := captures{"$ID1": "k3f"}
	tests := []struct{ in, want string }{
		{`{"id": "$ID1"}`, `{"id": "k3f"}`},
		{`$ID2 $id $5`, `$ID2 $id $5`},
		{`<$(ab*3)>`, `<ababab>`},
		{`$(a*0)`, ``},
		{`$(*3)`, `$(*3)`},
	}
	for _, tt := range tests {
		if got := c.expand(tt.in); got != tt.want {
			t.Errorf("expand(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}
