package index

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/sequent-dev/sequent/vault"
)

// An Embedder is an embedding model. It returns one vector for each text, all of
// the same size.
type Embedder interface {
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// A Config configures an [Index].
type Config struct {
	Vault *vault.Vault // required
	// Embedder enables searches by meaning; nil disables them.
	Embedder Embedder
	// Model is the name of the Embedder's model, under which vectors are stored.
	// It is required with an Embedder.
	Model string
	// Log receives failures that are not returned; nil discards them.
	Log *slog.Logger
}

// An Index finds notes. It is safe for concurrent use, also by several processes.
type Index struct {
	cfg      Config
	path     string        // of the file
	scanning chan struct{} // held while changed notes are indexed, so that many calls cost what one does

	// Replaced by tests:
	newWatch     func(dir string) *watch
	embedTimeout time.Duration // after which a hybrid search continues without meaning

	// Guarded by scanning:
	watch   *watch          // nil if nothing tells what has changed
	changed map[string]bool // paths of files that may have changed and are not yet indexed
	whole   *sql.DB         // has all other notes as they are; nil if none has

	mu   sync.Mutex  // guards the fields below
	db   *sql.DB     // nil until it is first used, and after it was closed or discarded
	file fs.FileInfo // of db, when it was opened
}

// New returns the index of a vault. It panics if Config.Vault is nil or an
// Embedder has no Model. It reads and writes no file.
func New(cfg Config) *Index {
	if cfg.Vault == nil || cfg.Embedder != nil && cfg.Model == "" {
		panic("index: Config.Vault is nil, or Config.Embedder has no Config.Model")
	}
	if cfg.Embedder == nil {
		cfg.Model = ""
	}
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	return &Index{
		cfg: cfg, path: filepath.Join(cfg.Vault.Dir(), ".sequent", "index.db"),
		scanning: make(chan struct{}, 1), newWatch: newWatch, changed: make(map[string]bool),
		embedTimeout: 10 * time.Second,
	}
}

// Close closes the file when the calls in progress have returned. A later call opens it again.
func (x *Index) Close() error {
	x.scanning <- struct{}{}
	x.watch.close()
	x.watch = nil
	<-x.scanning
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.release()
}

func (x *Index) release() (err error) {
	if x.db != nil {
		err = x.db.Close()
		x.db = nil
	}
	return err
}

// format is the version of the schema and of what is stored in it, which includes how
// package textsearch cuts texts and shortens words. A file of another version is
// replaced.
const format = 6

// The table words holds words that package textsearch has cut, because FTS5's own
// tokenizers take a Chinese sentence for one word. A text of another script than that is
// there twice: as it is, and as stems, which have a mark that is in no word.
const schema = `
CREATE TABLE notes(
	id INTEGER PRIMARY KEY,
	path TEXT NOT NULL UNIQUE,
	size INTEGER NOT NULL,     -- -1 if a later change can leave size and time as they are
	modified INTEGER NOT NULL, -- nanoseconds since 1970
	hash BLOB NOT NULL,        -- SHA-256 of the file
	title TEXT NOT NULL,
	tags TEXT NOT NULL,        -- each with a space before and after it
	model TEXT NOT NULL        -- that the note has passages for; empty if it has none
);
CREATE TABLE links(
	concept TEXT NOT NULL,
	note INTEGER NOT NULL,
	named INTEGER NOT NULL,    -- the note has the concept as its name; otherwise it links to it
	PRIMARY KEY (concept, note, named)
) WITHOUT ROWID;
CREATE INDEX links_note ON links(note, named, concept);
CREATE VIRTUAL TABLE words USING fts5(head, body, tokenize='ascii');
INSERT INTO words(words, rank) VALUES ('secure-delete', 1), ('hashsize', 4194304);
CREATE TABLE passages(
	note INTEGER NOT NULL,
	key TEXT NOT NULL,         -- SHA-256 of the model and the text
	text TEXT NOT NULL,
	PRIMARY KEY (note, key)
) WITHOUT ROWID;
CREATE INDEX passages_key ON passages(key);
CREATE TABLE vectors(
	key TEXT NOT NULL PRIMARY KEY,
	vector BLOB NOT NULL       -- 32-bit floats, little-endian, of length 1
);
CREATE TRIGGER removed AFTER DELETE ON notes BEGIN
	DELETE FROM words WHERE rowid = old.id;
	DELETE FROM links WHERE note = old.id;
	DELETE FROM passages WHERE note = old.id;
END;
`

// open returns the database. It creates a missing file.
func (x *Index) open(ctx context.Context) (*sql.DB, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.db != nil {
		if now, err := os.Stat(x.path); err == nil && os.SameFile(now, x.file) {
			return x.db, nil
		}
		if err := x.release(); err != nil { // another process has discarded the file
			return nil, err
		}
	}
	if err := x.create(); err != nil {
		return nil, err
	}
	path := filepath.ToSlash(x.path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // a drive letter
	}
	source := url.URL{Scheme: "file", Path: path, RawQuery: url.Values{"mode": {"rw"}, "_txlock": {"immediate"}, "_pragma": {
		"busy_timeout(10000)", "trusted_schema(0)", "synchronous(normal)", "secure_delete(1)", "journal_size_limit(67108864)",
	}}.Encode()}
	db, err := sql.Open("sqlite", source.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxIdleConns(4)
	db.SetMaxOpenConns(8)
	db.SetConnMaxIdleTime(5 * time.Minute)
	err = prepare(ctx, db)
	if err == nil {
		x.file, err = os.Stat(x.path)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	x.db = db
	return db, nil
}

// create creates an empty file that only the user can read, unless there is a file. It
// follows no link out of the folder. SQLite gives its log the same mode.
func (x *Index) create() error {
	root, err := x.cfg.Vault.State()
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // it only names a folder
	f, err := root.OpenFile("index.db", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// discard removes the file. A process that has it open continues with it.
func (x *Index) discard() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	err := x.release()
	for _, suffix := range []string{"", "-wal", "-shm"} { // SQLite would apply the log to the next file
		if removed := os.Remove(x.path + suffix); !errors.Is(removed, fs.ErrNotExist) {
			err = errors.Join(err, removed)
		}
	}
	return err
}

// prepare creates the schema in an empty file.
func prepare(ctx context.Context, db *sql.DB) error {
	err := transact(ctx, db, nil, func(t *tx) {
		var version, objects int
		t.each("SELECT user_version, (SELECT count(*) FROM sqlite_schema) FROM pragma_user_version", nil, nil, &version, &objects)
		switch {
		case t.err == nil && objects == 0:
			t.exec(schema + fmt.Sprintf("PRAGMA user_version=%d", format))
		case t.err == nil && version != format:
			t.err = errDamaged
		}
	})
	if err == nil {
		_, _ = db.ExecContext(ctx, "PRAGMA journal_mode=wal") // only makes writers and readers wait less
	}
	return err
}

// A tx is a transaction. After an error its methods do nothing.
type tx struct {
	*sql.Tx
	ctx context.Context
	err error
}

func (t *tx) exec(query string, args ...any) {
	if t.err == nil {
		_, t.err = t.ExecContext(t.ctx, query, args...)
	}
}

// each scans each row of a query into columns and then calls f, unless it is nil.
func (t *tx) each(query string, args []any, f func(), columns ...any) {
	if t.err != nil {
		return
	}
	rows, err := t.QueryContext(t.ctx, query, args...)
	if t.err = err; err != nil {
		return
	}
	defer func() { _ = rows.Close() }() // Err has the error
	for rows.Next() {
		if t.err = rows.Scan(columns...); t.err != nil {
			return
		}
		if f != nil {
			f()
		}
	}
	t.err = rows.Err()
}

func transact(ctx context.Context, db *sql.DB, opts *sql.TxOptions, f func(*tx)) error {
	begun, err := db.BeginTx(ctx, opts)
	if err != nil {
		return err
	}
	defer func() { _ = begun.Rollback() }() // does nothing after a commit
	t := &tx{Tx: begun, ctx: ctx}
	if f(t); t.err != nil {
		return t.err
	}
	return begun.Commit()
}

// write calls f in a transaction that no other writes beside. With a context that can be
// cancelled, each statement would start a goroutine.
func (x *Index) write(ctx context.Context, f func(*tx)) error {
	db, err := x.open(ctx)
	if err != nil {
		return err
	}
	return transact(context.WithoutCancel(ctx), db, nil, f)
}

// view calls f with one state of the index.
func (x *Index) view(ctx context.Context, f func(*tx)) error {
	db, err := x.open(ctx)
	if err != nil {
		return err
	}
	return transact(ctx, db, &sql.TxOptions{ReadOnly: true}, f)
}

// current indexes the notes that have changed, and then calls f. It does so again with an
// empty index if the index is damaged. With all, it looks at each note.
func (x *Index) current(ctx context.Context, all bool, progress func(Progress), f func(Report) error) error {
	once := func() error {
		report, err := x.scan(ctx, all, progress)
		if err != nil {
			return err
		}
		return f(report)
	}
	err := once()
	if isDamage(err) && ctx.Err() == nil {
		x.cfg.Log.WarnContext(ctx, "the index of the vault is damaged; it is rebuilt", "index", x.path, "error", err)
		if err = x.discard(); err == nil {
			err = once()
		}
	}
	if err != nil && ctx.Err() != nil { // SQLite's error only says that it was interrupted
		err = ctx.Err()
	}
	return wrap(err)
}
