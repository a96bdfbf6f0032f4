package thinking

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"path/filepath"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/lazyregexp"
	"github.com/sequent-dev/sequent/internal/printable"
	"github.com/sequent-dev/sequent/vault"
)

// The labels for what a note shows and a [sequent.Draft] has no field for. A dialect sets
// them.
const (
	LabelAgent      = "agent"      // of a thought: its author
	LabelConclusion = "conclusion" // of a thought: the conclusion that comes with it

	LabelAnalysisType = "analysisType" // of a session
	LabelParent       = "parent"       // of a session: the id of its workflow
	LabelMissing      = "missing"      // of a session: the parts that its conclusion lacks, separated by commas
	LabelVault        = "vault"        // of a session: the id of the vault with its note
)

// DefaultAgent is the author of thoughts without a LabelAgent.
const DefaultAgent = "agent"

// Folder is the folder of the vault that holds the notes of sessions.
const Folder = "thinking/sequential"

var idForm = lazyregexp.New(`^session-\d{1,15}(-[A-Za-z0-9_-]+)?$`)

// ValidID reports whether a session with that id can have a note: the id is
// session-{unix milliseconds}, optionally followed by -{letters, digits, - or _}, of at
// most 128 characters.
func ValidID(id sequent.ID) bool { return len(id) <= 128 && idForm().MatchString(string(id)) }

// Files holds the notes of sessions in a vault. It is safe for concurrent use, also by
// several processes.
type Files struct {
	vault *vault.Vault
	id    string
}

// New returns the notes of sessions in a vault.
func New(v *vault.Vault) *Files {
	dir, err := filepath.Abs(v.Dir())
	if err != nil {
		dir = v.Dir()
	}
	sum := sha256.Sum256([]byte(dir))
	return &Files{vault: v, id: hex.EncodeToString(sum[:8])}
}

// ID is the LabelVault of sessions that should have a note in this vault. It depends on the
// vault's path.
func (f *Files) ID() string { return f.id }

// Find returns the URI of a session's note, which may be in any folder below Folder. If
// there is none, it returns where Write makes it, and an error that matches
// vault.ErrNotFound.
func (f *Files) Find(ctx context.Context, id sequent.ID) (vault.URI, error) {
	if _, err := newURI(id); err != nil {
		return "", err
	}
	return f.vault.Find(ctx, Folder, string(id))
}

// newURI returns the URI of a new note.
func newURI(id sequent.ID) (vault.URI, error) {
	if !ValidID(id) {
		return "", sequent.Errorf(sequent.CodeInvalidSession, "sessionId", "use session-{unix milliseconds}, with or without a suffix",
			"a session with the id %q cannot have a note in a vault", printable.Short(string(id), 100))
	}
	return vault.PathURI(Folder + "/" + string(id))
}

// Write writes what a session's note does not have yet: new thoughts, and the session's
// state. It is idempotent, and several processes may call it at once: each thought is
// written once, in the order of the log. Edited sections stay edited, deleted ones deleted.
// In front matter that is not YAML nothing is written.
//
// If Write fails, the next Write or Sync writes what is missing.
//
// It returns the URI of the note.
func (f *Files) Write(ctx context.Context, s *sequent.Session) (vault.URI, error) {
	change := func(n *vault.Note) error { return merge(n, s, vault.MaxBytes) }
	uri, err := newURI(s.ID())
	if err == nil && s.Version() > 1 {
		uri, err = f.Find(ctx, s.ID())
	}
	if err == nil {
		_, err = f.vault.Update(ctx, uri, change)
	}
	if !errors.Is(err, vault.ErrNotFound) {
		return uri, err
	}
	n := &vault.Note{URI: uri}
	if err = change(n); err == nil {
		err = f.vault.Create(ctx, n)
	}
	if errors.Is(err, vault.ErrExists) { // another process was faster
		_, err = f.vault.Update(ctx, uri, change)
	}
	return uri, err
}

// Session returns the session in a note, for a store that does not have it. The error for
// a missing note matches sequent.ErrNotFound.
func (f *Files) Session(ctx context.Context, id sequent.ID) (sequent.Header, []sequent.Entry, error) {
	uri, err := f.Find(ctx, id)
	var n *vault.Note
	if err == nil {
		n, err = f.vault.Read(ctx, uri)
	}
	if errors.Is(err, vault.ErrNotFound) {
		err = noSession(id)
	}
	if err != nil {
		return sequent.Header{}, nil, err
	}
	return FromNote(ctx, id, n)
}

func noSession(id sequent.ID) error {
	return sequent.Errorf(sequent.CodeSessionNotFound, "sessionId", "check the id, or begin a new session",
		"there is no session %q", printable.Short(string(id), 100))
}
