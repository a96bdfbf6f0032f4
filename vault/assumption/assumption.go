package assumption

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/vault"
	"github.com/sequent-dev/sequent/vault/wikilink"
)

// A Status tells how an assumption stands.
type Status string

// The statuses.
const (
	Active      Status = "active"      // it is assumed, and has not been checked
	Validated   Status = "validated"   // it has been found true
	Invalidated Status = "invalidated" // it has been found false
	Refined     Status = "refined"     // it has been replaced by something more exact
)

// Statuses returns all of them.
func Statuses() []Status { return []Status{Active, Validated, Invalidated, Refined} }

// Folder is the folder of the vault that holds the ledger.
const Folder = "assumptions"

// Unspecified is the confidence of an assumption that does not say.
const Unspecified = "unspecified"

const (
	mostText     = 20000 // characters of a statement, a plan or notes
	mostName     = 200   // characters of a concept, a context or a confidence
	mostConcepts = 50
)

// A Config configures a [Ledger].
type Config struct {
	Vault *vault.Vault     // required
	Now   func() time.Time // nil means time.Now
}

// A Ledger is the assumptions of a vault. It is safe for concurrent use, by
// several processes as well.
type Ledger struct {
	vault *vault.Vault
	now   func() time.Time
}

// New returns the ledger of a vault.
func New(c Config) *Ledger {
	l := &Ledger{vault: c.Vault, now: c.Now}
	if l.now == nil {
		l.now = time.Now
	}
	return l
}

// An Assumption is one as its author states it.
type Assumption struct {
	Statement      string   // required
	Concepts       []string // what it is about, with brackets or without; required unless the statement links to something
	Context        string   // where it was made: a session, a workflow, a note
	ValidationPlan string   // how it could be checked
	Confidence     string   // in the author's words; empty means [Unspecified]
}

// A Change is what becomes of an assumption. An empty field leaves as it is
// what it stands for.
type Change struct {
	Status         Status
	Confidence     string
	ValidationPlan string
	Notes          string   // what was found; kept in the note, with the time
	Concepts       []string // further ones
}

// An Entry is an assumption as its note has it.
type Entry struct {
	URI            vault.URI
	Statement      string // its first line, if a person has changed the note's form
	Status         Status
	Confidence     string
	Context        string
	ValidationPlan string
	Concepts       []string // that the note links to, normalized
	Created        string   // as the note has it
	Updated        string   // empty if it never was
	Body           string   // of the note, with the history
}

// Append writes a new assumption into the ledger.
func (l *Ledger) Append(ctx context.Context, a Assumption) (Entry, error) {
	concepts, err := a.check()
	if err != nil {
		return Entry{}, err
	}
	now := l.now().UTC()
	// Two that are made in one millisecond get different names.
	for ms := now.UnixMilli(); ; ms++ {
		name := fmt.Sprintf("assumption-%d", ms)
		uri, err := vault.PathURI(fmt.Sprintf("%s/%s/%s", Folder, now.Format("2006/01"), name))
		if err != nil {
			return Entry{}, err
		}
		n := &vault.Note{URI: uri, Body: a.body(concepts)}
		f := &n.Front
		err = errors.Join(
			f.Set("title", "Assumption: "+title(a.Statement)), f.Set("permalink", name), f.Set("type", "assumption"),
			f.Set("status", string(Active)), f.Set("confidence", cmp.Or(strings.TrimSpace(a.Confidence), Unspecified)),
			f.SetTime("created", now),
			set(f, "context", a.Context), set(f, "validation_plan", a.ValidationPlan),
		)
		if err == nil {
			err = l.vault.Create(ctx, n)
		}
		if errors.Is(err, vault.ErrExists) {
			continue
		}
		if err != nil {
			return Entry{}, err
		}
		return entryOf(n), nil
	}
}

func set(f *vault.Front, key, value string) error {
	if value = strings.TrimSpace(value); value == "" {
		return nil
	}
	return f.Set(key, value)
}

// check returns the concepts.
func (a Assumption) check() ([]string, error) {
	if strings.TrimSpace(a.Statement) == "" {
		return nil, invalid("assumption", "say what is assumed, in a sentence that could turn out to be false", "there is no assumption")
	}
	concepts, err := conceptsOf(a.Concepts)
	if err == nil {
		err = lengths(map[string]string{"assumption": a.Statement, "validationPlan": a.ValidationPlan},
			map[string]string{"context": a.Context, "confidence": a.Confidence})
	}
	if err != nil {
		return nil, err
	}
	if len(concepts) == 0 && !wikilink.HasConcept([]byte(a.Statement)) {
		return nil, &sequent.Error{
			Code: CodeConceptRequired, Field: "concepts",
			Msg: "nothing says what the assumption is about",
			Fix: `name the concepts, such as ["authentication", "JWT"]`,
		}
	}
	return concepts, nil
}

// lengths refuses what is too long.
func lengths(texts, names map[string]string) error {
	for _, field := range []string{"assumption", "validationPlan", "notes", "context", "confidence"} {
		most := mostText
		value, ok := texts[field]
		if !ok {
			most, value = mostName, names[field]
		}
		if n := len([]rune(value)); n > most {
			return invalid(field, "say it shorter", "%s has %d characters, the limit is %d", field, n, most)
		}
	}
	return nil
}

// conceptsOf returns the concepts that are named, each once, as they are written.
func conceptsOf(given []string) ([]string, error) {
	if len(given) > mostConcepts {
		return nil, invalid("concepts", "name those that matter", "there are %d concepts, the limit is %d", len(given), mostConcepts)
	}
	var list []string
	seen := make(map[string]bool)
	for _, c := range given {
		c = strings.Join(strings.Fields(c), " ")
		if inner, ok := strings.CutPrefix(c, "[["); ok {
			c = strings.TrimSuffix(inner, "]]")
		}
		links := wikilink.Parse([]byte("- [[" + c + "]]"))
		if len(links) != 1 || links[0].Concept() == "" || links[0].Start != 2 || links[0].Stop != len(c)+6 || len([]rune(c)) > mostName {
			return nil, invalid("concepts", `name concepts without brackets, such as "error handling"`, "%q cannot be a concept", short(c))
		}
		if name := links[0].Concept(); !seen[name] {
			seen[name] = true
			list = append(list, c)
		}
	}
	return list, nil
}

// Update writes down what became of an assumption. What was there stays: a
// section with the change and the notes is added at the end.
func (l *Ledger) Update(ctx context.Context, uri vault.URI, c Change) (Entry, error) {
	uri, err := ledgerURI(uri)
	if err != nil {
		return Entry{}, err
	}
	concepts, err := c.check()
	if err != nil {
		return Entry{}, err
	}
	n, err := l.vault.Update(ctx, uri, func(n *vault.Note) error { return l.change(n, c, concepts) })
	if err != nil {
		return Entry{}, missing(err, uri)
	}
	return entryOf(n), nil
}

func (c Change) check() ([]string, error) {
	if c.Status != "" && !slices.Contains(Statuses(), c.Status) {
		return nil, &sequent.Error{
			Code: CodeInvalidStatus, Field: "status",
			Msg: fmt.Sprintf("an assumption cannot have the status %q", short(string(c.Status))),
			Fix: "use active, validated, invalidated or refined",
		}
	}
	concepts, err := conceptsOf(c.Concepts)
	if err != nil {
		return nil, err
	}
	empty := func(s string) bool { return strings.TrimSpace(s) == "" }
	if c.Status == "" && empty(c.Confidence) && empty(c.ValidationPlan) && empty(c.Notes) && len(concepts) == 0 {
		return nil, invalid("status", "give a status, notes, a confidence, a validationPlan or concepts", "there is nothing to update")
	}
	return concepts, lengths(map[string]string{"validationPlan": c.ValidationPlan, "notes": c.Notes}, map[string]string{"confidence": c.Confidence})
}

func (l *Ledger) change(n *vault.Note, c Change, concepts []string) error {
	f := &n.Front
	if err := f.Err(); err != nil {
		return err
	}
	var marks []string
	put := func(key, label, value string) error {
		old := f.Get(key)
		if value = strings.TrimSpace(value); value == "" || value == old {
			return nil
		}
		if label != "" {
			marks = append(marks, fmt.Sprintf("%s: %s → %s", label, plain(cmp.Or(old, "none")), plain(value)))
		}
		return f.Set(key, value)
	}
	now := l.now()
	if err := errors.Join(
		put("status", "Status", string(c.Status)), put("confidence", "Confidence", c.Confidence),
		put("validation_plan", "", c.ValidationPlan), f.SetTime("updated", now),
	); err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "## Update: %s\n", now.UTC().Format("2006-01-02 15:04:05 UTC"))
	paragraph := func(format string, args ...any) { fmt.Fprintf(&b, "\n"+format+"\n", args...) }
	if len(concepts) > 0 {
		paragraph("Related: [[%s]]", strings.Join(concepts, "]], [["))
	}
	for _, m := range marks {
		paragraph("*%s*", m)
	}
	if plan := text(c.ValidationPlan); plan != "" {
		paragraph("Validation plan: %s", plan)
	}
	if notes := text(c.Notes); notes != "" {
		paragraph("%s", notes)
	}
	br := n.LineBreak()
	if n.Body != "" && !strings.HasSuffix(n.Body, "\n") {
		n.Body += br
	}
	if n.Body != "" && !strings.HasSuffix(n.Body, br+br) {
		n.Body += br
	}
	n.Body += strings.ReplaceAll(b.String(), "\n", br)
	return nil
}

// Read returns an assumption as it stands.
func (l *Ledger) Read(ctx context.Context, uri vault.URI) (Entry, error) {
	uri, err := ledgerURI(uri)
	if err != nil {
		return Entry{}, err
	}
	n, err := l.vault.Read(ctx, uri)
	if err != nil {
		return Entry{}, missing(err, uri)
	}
	return entryOf(n), nil
}

// Latest returns the assumptions that were recorded last, newest first, at most
// limit of them.
func (l *Ledger) Latest(ctx context.Context, limit int) ([]Entry, error) {
	var uris []vault.URI
	for info, err := range l.vault.WalkFolder(ctx, Folder) {
		if ctx.Err() != nil {
			return nil, err
		}
		if err == nil {
			uris = append(uris, info.URI)
		}
	}
	// Folders and names hold the time.
	slices.SortFunc(uris, func(a, b vault.URI) int { return strings.Compare(b.Path(), a.Path()) })
	var list []Entry
	for _, uri := range uris[:min(limit, len(uris))] {
		e, err := l.Read(ctx, uri)
		if sequent.CodeOf(err) == CodeNotFound {
			continue // deleted since
		}
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, nil
}

// ledgerURI refuses what is not of the ledger: other notes are not changed by
// mistake.
func ledgerURI(uri vault.URI) (vault.URI, error) {
	if strings.TrimSpace(string(uri)) == "" {
		return "", invalid("uri", "pass the uri of the reply that recorded it", "nothing says which assumption is meant")
	}
	canonical, err := vault.ParseURI(string(uri))
	if err != nil {
		return "", err
	}
	if !strings.HasPrefix(canonical.Path(), Folder+"/") {
		return "", &sequent.Error{
			Code: CodeNotFound, Field: "uri",
			Msg: fmt.Sprintf("%s is not of the assumption ledger", canonical),
			Fix: "pass a uri that begins with memory://" + Folder + "/",
		}
	}
	return canonical, nil
}
