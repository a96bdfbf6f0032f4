package sequent

import (
	"context"
	"iter"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// A Session is a snapshot of one chain of thought: a header and an append-only
// log. It never changes, and all its methods may be called concurrently. The
// zero Session has no thoughts.
//
// The log consists of lines. The main line has the empty label; a branch has
// the label that its thoughts carry in [Draft.Branch], and leaves its parent
// line at the thought that its first one follows.
type Session struct {
	header Header
	log    *ledger // nil in the zero Session
	fault  *Fault  // nil if the log is intact

	notes     []Note // as the log has them, never modified
	decisions []Decision
	lost      []int // numbers of thoughts that this process had and the store has lost; see lostIn
}

// Header returns a copy of the session's header.
func (s *Session) Header() Header {
	h := s.header
	h.Labels = maps.Clone(h.Labels)
	return h
}

// Key returns the session's owner and ID.
func (s *Session) Key() Key { return s.header.Key }

// Owner returns the owner of the session. The local user's is empty.
func (s *Session) Owner() string { return s.header.Owner }

// ID returns the name of the session among those of its owner.
func (s *Session) ID() ID { return s.header.ID }

// Epoch returns [Header.Epoch].
func (s *Session) Epoch() int64 { return s.header.Epoch }

// Version returns the number of changes that led to the snapshot.
func (s *Session) Version() int { return s.header.Version }

// Fault returns in which way the session is not what was recorded, as far as it has been
// checked when it was read; nil if it is intact. Such a session can be read and deleted, and
// not be changed.
func (s *Session) Fault() *Fault { return s.fault }

// Position returns the position of the snapshot, for [Engine.Entries].
func (s *Session) Position() Position { return s.header.Position() }

// Len returns the number of thoughts in the log.
func (s *Session) Len() int { return s.header.Len }

// State returns whether the session is active, completed, cancelled or abandoned.
func (s *Session) State() State { return s.header.State }

// Title returns the title, which is the shortened first line of the first
// thought unless [Change.SetTitle] has set another.
func (s *Session) Title() string { return s.header.Title }

// Origin returns where the session comes from; see [WithOrigin].
func (s *Session) Origin() Origin { return s.header.Origin }

// Conclusion returns what [Change.Conclude] has recorded.
func (s *Session) Conclusion() string { return s.header.Conclusion }

// Label returns the value of a label, or "" if the session does not have it.
func (s *Session) Label(key string) string { return s.header.Labels[key] }

// Created returns when the session was begun, in UTC.
func (s *Session) Created() time.Time { return s.header.Created }

// Updated returns when the session was last changed, in UTC.
func (s *Session) Updated() time.Time { return s.header.Updated }

// read locks the log for reading and returns it with the number of thoughts that the
// session has. The caller unlocks it.
func (s *Session) read() (l *ledger, n int) {
	l = s.log
	if l == nil {
		l = newLedger(0)
	}
	l.mu.RLock()
	return l, s.header.Len
}

// thought returns the thought whose Seq is what of returns; false for 0.
func (s *Session) thought(of func(l *ledger, n int) int) (Thought, bool) {
	l, n := s.read()
	defer l.mu.RUnlock()
	if seq := of(l, n); seq > 0 {
		return l.thoughts[seq-1].detached(), true
	}
	return Thought{}, false
}

// All yields the log in the order of Seq.
func (s *Session) All() iter.Seq[Thought] { return s.Since(0) }

// Thoughts returns the log in the order of Seq.
func (s *Session) Thoughts() []Thought {
	return slices.AppendSeq(make([]Thought, 0, s.Len()), s.All())
}

// Since yields the thoughts after seq. It costs as much as it yields.
func (s *Session) Since(seq int) iter.Seq[Thought] {
	return func(yield func(Thought) bool) {
		// The thoughts of a session do not change, so the lock is not held while the
		// caller uses them.
		l, n := s.read()
		log := l.thoughts[:n]
		l.mu.RUnlock()
		for i := max(seq, 0); i < n; i++ {
			if !yield(log[i].detached()) {
				return
			}
		}
	}
}

// At returns the thought at a position of the log.
func (s *Session) At(seq int) (Thought, bool) {
	return s.thought(func(_ *ledger, n int) int {
		if seq > n {
			return 0
		}
		return seq
	})
}

// Last returns the thought that was recorded last, on whatever line.
func (s *Session) Last() (Thought, bool) { return s.At(s.Len()) }

// Upto returns the snapshot as it was after its first n thoughts. Its state and
// number of branches are what those thoughts say; other parts of the header are
// today's.
func (s *Session) Upto(n int) *Session {
	old := *s
	old.header.Len = min(max(n, 0), s.Len())
	if old.header.Len == s.Len() {
		return &old
	}
	old.notes = slices.DeleteFunc(s.Notes(), func(o Note) bool { return o.After >= old.header.Len })
	old.decisions = slices.DeleteFunc(s.Decisions(), func(d Decision) bool { return d.Seq > old.header.Len })
	l, n := old.read()
	defer l.mu.RUnlock()
	old.header.Branches = len(l.branches(n))
	if n > 0 {
		old.header.State = stateAfter(&l.thoughts[n-1].Draft)
	}
	return &old
}

// Branches returns the labels of the branches in order of first use.
func (s *Session) Branches() []string {
	l, n := s.read()
	defer l.mu.RUnlock()
	branches := l.branches(n)
	labels := make([]string, len(branches))
	for i := range branches {
		labels[i] = branches[i].label
	}
	return labels
}

// End returns the last thought of a line; the main line's label is empty.
func (s *Session) End(branch string) (Thought, bool) {
	return s.thought(func(l *ledger, n int) int {
		ln, _, _ := l.lineAt(branch, n)
		return ln.last
	})
}

// BranchPoint returns the thought at which a branch leaves its parent line. It
// reports false for the main line, an unknown branch, and a branch that leaves
// at no recorded thought.
func (s *Session) BranchPoint(branch string) (Thought, bool) {
	return s.thought(func(l *ledger, n int) int {
		ln, _, _ := l.lineAt(branch, n)
		return ln.origin
	})
}

// NextNumber returns the number that follows the largest one on the path that
// leads to the end of a line: 1 for a line without thoughts.
func (s *Session) NextNumber(branch string) int {
	end, _ := s.End(branch)
	return s.NumberAfter(end.Seq)
}

// NumberAfter returns the number that follows the largest one on the path that
// leads to thought seq.
func (s *Session) NumberAfter(seq int) int {
	l, n := s.read()
	defer l.mu.RUnlock()
	if seq < 1 || seq > n {
		return 1
	}
	return l.links[seq-1].highest + 1
}

// Find returns the latest thought with the given number on the path that leads
// to the end of a line.
func (s *Session) Find(branch string, number int) (Thought, bool) {
	return s.thought(func(l *ledger, n int) int {
		if _, at, ok := l.lineAt(branch, n); ok {
			return l.resolve(at, number, n)
		}
		return 0
	})
}

// FindBranchPoint returns the thought that is meant by the given number as the point at
// which a new branch leaves: the one on the line that was used last, otherwise on the main line,
// otherwise the latest one with that number.
func (s *Session) FindBranchPoint(number int) (Thought, bool) {
	return s.thought(func(l *ledger, n int) int { return l.origin(number, n) })
}

// Recorded returns the thought that was appended with the given request key.
func (s *Session) Recorded(key string) (Thought, bool) {
	return s.thought(func(l *ledger, n int) int { return l.recorded(key, n) })
}

func stateAfter(d *Draft) State {
	if d.Final {
		return Completed
	}
	return Active
}

// TitleOf returns the title that a session has by its first thought: the first line of its text, shortened to 80 characters.
func TitleOf(text string) string {
	const most = 80
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	line = strings.Join(strings.Fields(line), " ")
	if utf8.RuneCountInString(line) <= most {
		return line
	}
	return strings.TrimSpace(string([]rune(line)[:most-1])) + "…"
}

// precise is a time as every store can keep it.
func precise(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Microsecond)
}

// An Origin tells where a session comes from, as far as it is known. It is shown and
// found, and decides what [Query.Project] selects; nothing else depends on it.
//
// A session gets the one of the call that begins it; see [WithOrigin].
type Origin struct {
	Client        string `json:"client,omitempty"` // the program that the agent runs in, such as claude-code
	ClientVersion string `json:"clientVersion,omitempty"`
	Agent         string `json:"agent,omitempty"`   // tells agents of one client apart
	Model         string `json:"model,omitempty"`   // the language model, where the client says it
	Project       string `json:"project,omitempty"` // a repository's URL without credentials, or a directory; compared as a whole
	GitBranch     string `json:"gitBranch,omitempty"`
	Commit        string `json:"commit,omitempty"`
}

type originKey struct{}

// WithOrigin returns a context for the calls of a client: the sessions that they begin
// come from where of says. It is called for a session that begins only, perhaps by several
// goroutines.
func WithOrigin(ctx context.Context, of func() Origin) context.Context {
	return context.WithValue(ctx, originKey{}, of)
}

// OriginOf returns what the function of [WithOrigin] says, or the zero Origin.
func OriginOf(ctx context.Context) Origin {
	of, _ := ctx.Value(originKey{}).(func() Origin)
	if of == nil {
		return Origin{}
	}
	return of().clean()
}

// maxOrigin is the maximum number of characters of a field of an [Origin].
const maxOrigin = 1024

// clean returns o as a session can record it: without characters that do not print, and
// with at most maxOrigin characters a field, and without credentials in the URL of the
// project. What a client says of itself never makes a call fail.
func (o Origin) clean() Origin {
	o.Project = public(o.Project)
	for _, value := range o.fields() {
		*value = clean(*value)
	}
	return o
}

func clean(s string) string {
	s = strings.TrimSpace(strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, s))
	if utf8.RuneCountInString(s) > maxOrigin {
		s = string([]rune(s)[:maxOrigin])
	}
	return s
}

// fields yields the names of the fields in a log, in order, and the fields.
func (o *Origin) fields() iter.Seq2[string, *string] {
	return func(yield func(string, *string) bool) {
		_ = yield("origin.agent", &o.Agent) &&
			yield("origin.client", &o.Client) &&
			yield("origin.clientVersion", &o.ClientVersion) &&
			yield("origin.commit", &o.Commit) &&
			yield("origin.gitBranch", &o.GitBranch) &&
			yield("origin.model", &o.Model) &&
			yield("origin.project", &o.Project)
	}
}

// inProject reports whether a session with this origin is among those of a project.
// Those without a project are among those of every one.
func (o *Origin) inProject(project string) bool {
	return project == "" || o.Project == "" || o.Project == project
}

// public returns the URL of a repository, or an address such as host:path, without user,
// password, query and fragment. It returns other texts as they are, and nothing of a URL that
// cannot be parsed: a part of it may be a password.
func public(project string) string {
	if strings.Contains(project, "://") {
		u, err := url.Parse(strings.TrimSpace(project))
		if err != nil {
			return ""
		}
		return u.Scheme + "://" + u.Host + u.EscapedPath()
	}
	if host, path, ok := strings.Cut(project, ":"); ok && !strings.ContainsAny(host, `/\`) && len(host) > 1 {
		return host[strings.LastIndexByte(host, '@')+1:] + ":" + path
	}
	return project // a path
}
