package draw

import (
	"strings"

	"github.com/sequent-dev/sequent"
)

// shownCommit is how many characters of a commit are shown.
const shownCommit = 10

// Origin returns the facts about where a session comes from, for people; nil if there are
// none.
func Origin(c sequent.Origin, charset Charset) (facts []string) {
	add := func(parts ...string) {
		if text := strings.TrimSpace(One(strings.Join(parts, " "), charset)); text != "" {
			facts = append(facts, text)
		}
	}
	add(c.Client, c.ClientVersion)
	if c.Agent != c.Client && c.Agent != "" {
		add("agent", c.Agent)
	}
	add(c.Model)
	add(c.Project)
	place := c.GitBranch
	if c.Commit != "" {
		place += "@" + c.Commit[:min(shownCommit, len(c.Commit))]
	}
	add(place)
	return facts
}
