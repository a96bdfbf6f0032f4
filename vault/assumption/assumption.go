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
	"github.com/sequent-dev/sequent/internal/printable"
	"github.com/sequent-dev/sequent/vault"
	"github.com/sequent-dev/sequent/vault/wikilink"
)

// A Status is the state of an assumption.
type Status string

// The statuses.
const (
	Active      Status = "active"      // not yet checked
	Validated   Status = "validated"   // found to be true
	Invalidated Status = "invalidated" // found to be false
	Refined     Status = "refined"     // replaced by a more exact statement
)

var statuses = []Status{Active, Validated, Invalidated, Refined}

// Folder is the folder of the vault that holds the ledger.
const Folder = "assumptions"

// Unspecified is the default confidence of an assumption.
const Unspecified = "unspecified"

const (
	maxTextChars = 20000 // of a statement, a plan or notes
	maxNameChars = 200   // of a concept, a context or a confidence
	maxConcepts  = 50
)

// A Config configures a [Ledger].
type Config struct {
	Vault *vault.Vault     // required
	Now   func() time.Time // nil means time.Now
}

// A Ledger holds the assumptions of a vault. It is safe for concurrent use, also by
// several processes.
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

// An Assumption is a new assumption.
type Assumption struct {
	Statement      string   // required
	Concepts       []string // with or without brackets; required unless the statement has a WikiLink
	Context        string   // the session, workflow or note where it was made
	ValidationPlan string   // how it could be checked
	Confidence     string   // in the author's words; empty means [Unspecified]
}

// A Change updates an assumption. Empty fields change nothing.
type Change struct {
	Status         Status
	Confidence     string
	ValidationPlan string
	Notes          string   // findings; added to the note with the time
	Concepts       []string // further concepts
}

// An Entry is an assumption in the ledger.
type Entry struct {
	URI            vault.URI
	Statement      string // or the note's first line, if a person has removed the section
	Status         Status
	Confidence     string
	Context        string
	ValidationPlan string
	Concepts       []string // normalized targets of the note's links
	Created        string   // as written in the note
	Updated        string   // empty before the first update
	Body           string   // of the note, with the history
}

// Append records a new assumption.
func (l *Ledger) Append(ctx context.Context, a Assumption) (Entry, error) {
	concepts, err := a.check()
	if err != nil {
		return Entry{}, err
	}
	now := l.now().UTC()
	// Assumptions of the same millisecond get different names.
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

// check returns the concepts, or an error for an invalid field.
func (a Assumption) check() ([]string, error) {
	if strings.TrimSpace(a.Statement) == "" {
		return nil, invalid("assumption", "write a sentence that could turn out to be false", "the assumption is empty")
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
			Msg: "the assumption has no concepts",
			Fix: `name some, such as ["authentication", "JWT"]`,
		}
	}
	return concepts, nil
}

// lengths refuses values that are too long.
func lengths(texts, names map[string]string) error {
	for _, field := range []string{"assumption", "validationPlan", "notes", "context", "confidence"} {
		limit := maxTextChars
		value, ok := texts[field]
		if !ok {
			limit, value = maxNameChars, names[field]
		}
		if n := len([]rune(value)); n > limit {
			return invalid(field, "shorten it", "%s has %d characters, the limit is %d", field, n, limit)
		}
	}
	return nil
}

// conceptsOf returns the given concepts without repetitions, as they are written.
func conceptsOf(given []string) ([]string, error) {
	if len(given) > maxConcepts {
		return nil, invalid("concepts", "name the most important ones", "there are %d concepts, the limit is %d", len(given), maxConcepts)
	}
	var list []string
	seen := make(map[string]bool)
	for _, c := range given {
		c = strings.Join(strings.Fields(c), " ")
		if inner, ok := strings.CutPrefix(c, "[["); ok {
			c = strings.TrimSuffix(inner, "]]")
		}
		links := wikilink.Parse([]byte("- [[" + c + "]]"))
		if len(links) != 1 || links[0].Concept() == "" || links[0].Start != 2 || links[0].Stop != len(c)+6 || len([]rune(c)) > maxNameChars {
			return nil, invalid("concepts", `name concepts without brackets, such as "error handling"`, "%q cannot be a concept", printable.Short(c, maxTitle))
		}
		if name := links[0].Concept(); !seen[name] {
			seen[name] = true
			list = append(list, c)
		}
	}
	return list, nil
}

// Update changes an assumption. It adds a section with the change and the notes at the end
// of the note. It returns the assumption before and after.
func (l *Ledger) Update(ctx context.Context, uri vault.URI, c Change) (before, after Entry, err error) {
	if uri, err = ledgerURI(uri); err != nil {
		return Entry{}, Entry{}, err
	}
	concepts, err := c.check()
	if err != nil {
		return Entry{}, Entry{}, err
	}
	n, err := l.vault.Update(ctx, uri, func(n *vault.Note) error {
		before = entryOf(n)
		return l.change(n, c, concepts)
	})
	if err != nil {
		return Entry{}, Entry{}, missing(err, uri)
	}
	return before, entryOf(n), nil
}

func (c Change) check() ([]string, error) {
	if c.Status != "" && !slices.Contains(statuses, c.Status) {
		return nil, &sequent.Error{
			Code: CodeInvalidStatus, Field: "status",
			Msg: fmt.Sprintf("an assumption cannot have the status %q", printable.Short(string(c.Status), maxTitle)),
			Fix: "use active, validated, invalidated or refined",
		}
	}
	concepts, err := conceptsOf(c.Concepts)
	if err != nil {
		return nil, err
	}
	empty := func(s string) bool { return strings.TrimSpace(s) == "" }
	if c.Status == "" && empty(c.Confidence) && empty(c.ValidationPlan) && empty(c.Notes) && len(concepts) == 0 {
		return nil, invalid("status", "give a status, notes, a confidence, a validationPlan or concepts", "the update changes nothing")
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
	n.AddSection(b.String())
	return nil
}

// Read returns an assumption.
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

// ledgerURI returns the canonical URI of an assumption. It refuses other notes.
func ledgerURI(uri vault.URI) (vault.URI, error) {
	if strings.TrimSpace(string(uri)) == "" {
		return "", invalid("uri", "pass the uri from the reply that recorded the assumption", "the uri is missing")
	}
	canonical, err := vault.ParseURI(string(uri))
	if err != nil {
		return "", err
	}
	if !strings.HasPrefix(canonical.Path(), Folder+"/") {
		return "", &sequent.Error{
			Code: CodeNotFound, Field: "uri",
			Msg: fmt.Sprintf("%s is not in the assumption ledger", canonical),
			Fix: "pass a uri that begins with memory://" + Folder + "/",
		}
	}
	return canonical, nil
}
