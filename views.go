package sequent

import "slices"

// A Step is a thought as it stands in the effective chain.
type Step struct {
	Thought
	Place    int   // number of the first thought that it replaces, otherwise its own
	Replaced []int // Seqs of the thoughts it replaced, oldest first
}

// Path returns the lineage of a line in order of Seq: the line's thoughts and,
// before them, those of its parent up to its origin, and so on to the first.
// Revisions made between the origin and the opening of the branch belong to it
// if what they replace does. The path of an unknown branch is empty.
//
// Its cost is proportional to the length of the path.
func (s *Session) Path(branch string) []Thought {
	l, n := s.read()
	defer l.mu.RUnlock()
	_, at, ok := l.lineAt(branch, n)
	if !ok {
		return nil
	}
	var path []Thought
	origin := n
	for {
		ln := l.lines[at]
		for seq := ln.last; seq > 0; seq = l.links[seq-1].previous {
			if seq <= n && (seq <= origin || l.replacesUpTo(seq, origin)) {
				path = append(path, l.thoughts[seq-1].detached())
			}
		}
		if ln.origin == 0 {
			break
		}
		n, origin, at = min(n, ln.first), min(origin, ln.origin), ln.parent
	}
	slices.SortFunc(path, func(a, b Thought) int { return a.Seq - b.Seq })
	return path
}

// Effective returns the chain that a line stands for now: its path, with each
// thought that was revised replaced, in its place, by its latest revision.
func (s *Session) Effective(branch string) []Step {
	path := s.Path(branch)
	steps := make([]Step, 0, len(path))
	placeOf := make(map[int]int, len(path)) // Seq → index in steps
	for _, t := range path {
		if i, ok := placeOf[t.Supersedes]; ok && t.Supersedes > 0 {
			old := steps[i]
			steps[i] = Step{Thought: t, Place: old.Place, Replaced: append(old.Replaced, old.Seq)}
			placeOf[t.Seq] = i
			continue
		}
		placeOf[t.Seq] = len(steps)
		steps = append(steps, Step{Thought: t, Place: t.Number})
	}
	return steps
}

// An OutlineEntry is a thought in an outline.
type OutlineEntry struct {
	Thought
	Depth int // 0 for the main line, 1 for a branch from it, …
}

// Outline returns the whole session as a tree in reading order: each branch
// follows the thought at which it leaves, one level deeper. Branches without an
// origin in the log come last.
func (s *Session) Outline() []OutlineEntry {
	own := make(map[string][]int)     // line → Seqs of its thoughts
	leaving := make(map[int][]string) // Seq → branches that leave there
	for t := range s.All() {
		if t.Branch != "" && len(own[t.Branch]) == 0 {
			leaving[t.After] = append(leaving[t.After], t.Branch)
		}
		own[t.Branch] = append(own[t.Branch], t.Seq)
	}
	entries := make([]OutlineEntry, 0, s.Len())
	var walk func(line string, depth int)
	walk = func(line string, depth int) {
		for _, seq := range own[line] {
			t, _ := s.At(seq)
			entries = append(entries, OutlineEntry{Thought: t, Depth: depth})
			for _, branch := range leaving[seq] {
				walk(branch, depth+1)
			}
		}
	}
	walk("", 0)
	for _, branch := range leaving[0] {
		walk(branch, 1)
	}
	return entries
}

// Asked returns the problem as it was first put, which is the first thought or the title that
// [Change.SetTitle] has set, and the thought that was put in place of the first one since; the zero
// Thought if there is none.
//
// Its cost is that of [Session.Standings].
func (s *Session) Asked() (problem string, now Thought) {
	first, ok := s.At(1)
	if !ok || s.header.Title != title(first.Text) {
		return s.header.Title, Thought{}
	}
	now, _ = s.At(s.Standings()[0].By)
	return first.Text, now
}

// Tokens estimates the number of tokens of a text as a quarter of its bytes. It is
// precise enough for budgets, not for billing.
func Tokens(text string) int { return (len(text) + 3) / 4 }
