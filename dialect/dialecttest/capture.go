package dialecttest

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"strconv"
	"strings"
)

var (
	placeholder = regexp.MustCompile(`\$[A-Z][A-Z0-9_]*`)
	repetition  = regexp.MustCompile(`\$\((.+?)\*(\d+)\)`)
	mintedID    = regexp.MustCompile(`"session_?[iI]d":("(?:[^"\\]|\\.)*")`)
)

// maxRepetition limits the bytes of a repetition, for a typing error in a transcript.
const maxRepetition = 32 << 20

// shortestID is the minimum length of an id that -update replaces by a name.
const shortestID = 8

// captures are the values that placeholders stand for: "$ID1" → "k3f…".
type captures map[string]string

// expand returns a call's text with the values in place of placeholders.
func (c captures) expand(s string) string {
	s = placeholder.ReplaceAllStringFunc(s, func(p string) string {
		if v, ok := c[p]; ok {
			return v
		}
		return p
	})
	return repetition.ReplaceAllStringFunc(s, func(p string) string {
		m := repetition.FindStringSubmatch(p)
		n, _ := strconv.Atoi(m[2])
		return strings.Repeat(m[1], min(n, maxRepetition/len(m[1])))
	})
}

// match reports whether got matches want, and binds the placeholders that want uses for
// the first time.
func (c captures) match(got, want string) bool {
	var pattern strings.Builder
	pattern.WriteString(`\A`)
	var fresh []string
	rest := want
	for {
		at := placeholder.FindStringIndex(rest)
		if at == nil {
			break
		}
		name := rest[at[0]:at[1]]
		pattern.WriteString(regexp.QuoteMeta(rest[:at[0]]))
		if v, bound := c[name]; bound {
			pattern.WriteString(regexp.QuoteMeta(v))
		} else {
			pattern.WriteString(`([\w.-]+)`)
			fresh = append(fresh, name)
		}
		rest = rest[at[1]:]
	}
	pattern.WriteString(regexp.QuoteMeta(rest) + `\z`)
	found := regexp.MustCompile(pattern.String()).FindStringSubmatch(got)
	if found == nil {
		return false
	}
	bound := make(captures)
	for i, name := range fresh {
		if v, twice := bound[name]; twice && v != found[i+1] {
			return false
		}
		bound[name] = found[i+1]
	}
	maps.Copy(c, bound)
	return true
}

// name returns got with placeholders in place of values, for -update and for
// failure messages.
func (c captures) name(got string) string {
	for name, v := range c {
		got = strings.ReplaceAll(got, v, name)
	}
	return got
}

// discover binds the session ids in a reply that are not in the call.
func (c captures) discover(reply, call string) {
	for _, m := range mintedID.FindAllStringSubmatch(reply, -1) {
		var id string
		if json.Unmarshal([]byte(m[1]), &id) != nil || len(id) < shortestID || strings.Contains(call, m[1]) || c.knows(id) {
			continue
		}
		for n := 1; ; n++ {
			name := fmt.Sprintf("$ID%d", n)
			if _, used := c[name]; !used {
				c[name] = id
				break
			}
		}
	}
}

func (c captures) knows(value string) bool {
	for _, v := range c {
		if v == value {
			return true
		}
	}
	return false
}
