// Package assumption keeps a ledger of assumptions. Each is a note of the vault with its
// history.
//
//	l := assumption.New(assumption.Config{Vault: v})
//	e, err := l.Append(ctx, assumption.Assumption{
//		Statement: "Tokens live for an hour.", Concepts: []string{"JWT"}, ValidationPlan: "Read the configuration.",
//	})
//	_, e, err = l.Update(ctx, e.URI, assumption.Change{Status: assumption.Invalidated, Notes: "Five minutes, says [[auth.yaml]]."})
//
// A note is assumptions/yyyy/MM/assumption-{ms}.md. Its front matter has the status. Its
// body has the statement, the concepts as WikiLinks, and a section for each update. A
// person may edit the note: an update changes keys of the front matter and adds a
// section, and nothing else.
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
	"github.com/sequent-dev/sequent/internal/lazyregexp"
	"github.com/sequent-dev/sequent/internal/printable"
	"github.com/sequent-dev/sequent/vault"
	"github.com/sequent-dev/sequent/vault/wikilink"
)

// The codes of this package's errors, which are [*sequent.Error]s. Errors of package
// vault keep their codes.
const (
	CodeInvalid         sequent.Code = "assumption_invalid"          // an argument is invalid
	CodeConceptRequired sequent.Code = "assumption_concept_required" // no concept is named, so that the graph would lack it
	CodeInvalidStatus   sequent.Code = "assumption_invalid_status"   // there is no such status
	CodeNotFound        sequent.Code = "assumption_not_found"        // no assumption has that URI
)

func refuse(code sequent.Code, field, fix, format string, args ...any) error {
	return &sequent.Error{Code: code, Field: field, Msg: fmt.Sprintf(format, args...), Fix: fix}
}

// A Status is the state of an assumption.
type Status string

// The statuses.
const (
	Active      Status = "active"      // not yet checked
	Validated   Status = "validated"   // found to be true
	Invalidated Status = "invalidated" // found to be false
	Refined     Status = "refined"     // replaced by a more exact statement
)

// Folder is the folder of the vault that holds the ledger.
const Folder = "assumptions"

// Unspecified is the default confidence of an assumption.
const Unspecified = "unspecified"

const (
	maxName     = 200 // characters of a concept, a context or a confidence
	maxTitle    = 100 // characters
	maxConcepts = 50
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
	Body           string   // of the note, with the history
}

// Append records a new assumption.
func (l *Ledger) Append(ctx context.Context, a Assumption) (Entry, error) {
	if strings.TrimSpace(a.Statement) == "" {
		return Entry{}, refuse(CodeInvalid, "assumption", "write a sentence that could turn out to be false", "the assumption is empty")
	}
	concepts, err := conceptsOf(a.Concepts)
	if err == nil {
		err = cmp.Or(short("context", a.Context), short("confidence", a.Confidence))
	}
	if err != nil {
		return Entry{}, err
	}
	if len(concepts) == 0 && !wikilink.HasConcept([]byte(a.Statement)) {
		return Entry{}, refuse(CodeConceptRequired, "concepts", `name some, such as ["authentication", "JWT"]`, "the assumption has no concepts")
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
		err = n.Front.SetAll("title", "Assumption: "+title(a.Statement), "permalink", name, "type", "assumption", "status", Active,
			"confidence", cmp.Or(strings.TrimSpace(a.Confidence), Unspecified), "created", now,
			"context", strings.TrimSpace(a.Context), "validation_plan", strings.TrimSpace(a.ValidationPlan))
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

// short refuses a value that is too long for front matter.
func short(field, value string) error {
	if n := len([]rune(value)); n > maxName {
		return refuse(CodeInvalid, field, "shorten it", "%s has %d characters, the limit is %d", field, n, maxName)
	}
	return nil
}

// body returns the body of a new note. The concepts come first, so that an open code fence
// in the statement cannot affect their links.
func (a Assumption) body(concepts []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Assumption: %s\n", title(a.Statement))
	if len(concepts) > 0 {
		b.WriteString("\n## Related Concepts\n\n- [[" + strings.Join(concepts, "]]\n- [[") + "]]\n")
	}
	fmt.Fprintf(&b, "\n## Statement\n\n%s\n", text(a.Statement))
	if plan := text(a.ValidationPlan); plan != "" {
		fmt.Fprintf(&b, "\n## Validation Plan\n\n%s\n", plan)
	}
	return b.String()
}

var statementForm = lazyregexp.New(`(?ms)^## Statement\s*\n(.*?)(?:^## |\z)`)

// entryOf returns the assumption in a note.
func entryOf(n *vault.Note) Entry {
	f := &n.Front
	e := Entry{
		URI: n.URI, Status: Status(f.Get("status")), Confidence: f.Get("confidence"), Context: f.Get("context"),
		ValidationPlan: f.Get("validation_plan"),
		Concepts:       wikilink.Concepts(wikilink.Parse([]byte(n.Body))), Body: strings.TrimSpace(n.Body),
	}
	body := strings.ReplaceAll(n.Body, "\r\n", "\n")
	if m := statementForm().FindStringSubmatch(body); m != nil {
		e.Statement = vault.Plain(strings.TrimSpace(m[1]))
	}
	if e.Statement == "" {
		e.Statement = title(strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(body), "# "), "Assumption: "))
	}
	return e
}

// title returns the first line of a statement, cut to maxTitle.
func title(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return printable.Short(strings.Join(strings.Fields(line), " "), maxTitle)
}

// text returns a text for a note; empty if it is blank.
func text(s string) string {
	if s = strings.TrimSpace(s); s != "" && strings.Contains("\n"+s, "\n## ") { // it would begin a section
		return vault.Callout(s)
	}
	return vault.Block(s)
}

// conceptsOf returns the given concepts without repetitions, as they are written.
func conceptsOf(given []string) ([]string, error) {
	if len(given) > maxConcepts {
		return nil, refuse(CodeInvalid, "concepts", "name the most important ones", "there are %d concepts, the limit is %d", len(given), maxConcepts)
	}
	var list []string
	seen := make(map[string]bool)
	for _, c := range given {
		c = strings.Join(strings.Fields(c), " ")
		if inner, ok := strings.CutPrefix(c, "[["); ok {
			c = strings.TrimSuffix(inner, "]]")
		}
		links := wikilink.Parse([]byte("- [[" + c + "]]"))
		if len(links) != 1 || links[0].Concept() == "" || links[0].Start != 2 || links[0].Stop != len(c)+6 || len([]rune(c)) > maxName {
			return nil, refuse(CodeInvalid, "concepts", `name concepts without brackets, such as "error handling"`, "%q cannot be a concept", printable.Short(c, maxTitle))
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
		return c.apply(n, concepts, l.now())
	})
	if err != nil {
		return Entry{}, Entry{}, missing(err, uri)
	}
	return before, entryOf(n), nil
}

func (c *Change) check() ([]string, error) {
	c.Confidence, c.ValidationPlan, c.Notes = strings.TrimSpace(c.Confidence), strings.TrimSpace(c.ValidationPlan), strings.TrimSpace(c.Notes)
	if c.Status != "" && !slices.Contains([]Status{Active, Validated, Invalidated, Refined}, c.Status) {
		return nil, refuse(CodeInvalidStatus, "status", "use active, validated, invalidated or refined",
			"an assumption cannot have the status %q", printable.Short(string(c.Status), maxTitle))
	}
	concepts, err := conceptsOf(c.Concepts)
	if err != nil {
		return nil, err
	}
	if c.Status == "" && c.Confidence+c.ValidationPlan+c.Notes == "" && len(concepts) == 0 {
		return nil, refuse(CodeInvalid, "status", "give a status, notes, a confidence, a validationPlan or concepts", "the update changes nothing")
	}
	return concepts, short("confidence", c.Confidence)
}

func (c *Change) apply(n *vault.Note, concepts []string, now time.Time) error {
	var b strings.Builder
	fmt.Fprintf(&b, "## Update: %s UTC\n", now.UTC().Format(time.DateTime))
	if len(concepts) > 0 {
		fmt.Fprintf(&b, "\nRelated: [[%s]]\n", strings.Join(concepts, "]], [["))
	}
	for _, field := range [][3]string{
		{"status", "Status", string(c.Status)}, {"confidence", "Confidence", c.Confidence}, {"validation_plan", "", c.ValidationPlan},
	} {
		key, label, value := field[0], field[1], field[2]
		old := n.Front.Get(key)
		if value == "" || value == old {
			continue
		}
		if label != "" {
			fmt.Fprintf(&b, "\n*%s: %s → %s*\n", label, plain(cmp.Or(old, "none")), plain(value))
		}
		if err := n.Front.Set(key, value); err != nil {
			return err
		}
	}
	if plan := text(c.ValidationPlan); plan != "" {
		fmt.Fprintf(&b, "\nValidation plan: %s\n", plan)
	}
	if notes := text(c.Notes); notes != "" {
		fmt.Fprintf(&b, "\n%s\n", notes)
	}
	n.AddSection(b.String())
	return n.Front.Set("updated", now)
}

// plain returns a value for use between asterisks.
func plain(s string) string { return strings.ReplaceAll(title(s), "*", "∗") }

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

func missing(err error, uri vault.URI) error {
	if !errors.Is(err, vault.ErrNotFound) {
		return err
	}
	return refuse(CodeNotFound, "uri", "check the uri; search_memories in the folder "+Folder+" finds it", "there is no assumption %s", uri)
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
		return "", refuse(CodeInvalid, "uri", "pass the uri from the reply that recorded the assumption", "the uri is missing")
	}
	canonical, err := vault.ParseURI(string(uri))
	if err != nil {
		return "", err
	}
	if !strings.HasPrefix(canonical.Path(), Folder+"/") {
		return "", refuse(CodeNotFound, "uri", "pass a uri that begins with memory://"+Folder+"/", "%s is not in the assumption ledger", canonical)
	}
	return canonical, nil
}
