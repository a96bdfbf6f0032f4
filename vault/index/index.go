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
	// Dir is the folder of the index; empty means .sequent in the vault.
	Dir string
	// Embedder enables searches by meaning; nil disables them.
	Embedder Embedder
	// Model is the name of the Embedder's model, under which vectors are stored.
	// It is required with an Embedder.
	Model string
	// EmbedTimeout limits how long a hybrid search waits for the Embedder before
	// it continues without meaning; 0 means 10 seconds.
	EmbedTimeout time.Duration
	// Debounce is how long Watch waits for further changes after one; 0 means
	// 200 milliseconds.
	Debounce time.Duration
	// Rescan is the interval at which Watch looks at all notes, because the
	// operating system does not report every change; 0 means a minute.
	Rescan time.Duration
	// Turn is called before Watch reads notes, of 1 MiB at most or a single one, and done when they
	// are indexed: both take the processor for long. Nil means that Watch never waits.
	Turn func(ctx context.Context) (done func(), err error)
	// Log receives failures that are not returned; nil discards them.
	Log *slog.Logger
}

// An Index finds notes. It is safe for concurrent use, also by several processes.
type Index struct {
	cfg  Config
	path string // of the file

	mu     sync.Mutex // guards the fields below
	db     *sql.DB    // nil until it is first used, and after it was discarded
	closed bool
}

// New returns the index of a vault. It panics if Config.Vault is nil or an
// Embedder has no Model. It reads and writes no file.
func New(cfg Config) *Index {
	if cfg.Vault == nil || cfg.Embedder != nil && cfg.Model == "" {
		panic("index: Config.Vault is nil, or Config.Embedder has no Config.Model")
	}
	cfg.Dir = cmp.Or(cfg.Dir, filepath.Join(cfg.Vault.Dir(), ".sequent"))
	cfg.EmbedTimeout = cmp.Or(cfg.EmbedTimeout, 10*time.Second)
	cfg.Debounce = cmp.Or(cfg.Debounce, 200*time.Millisecond)
	cfg.Rescan = cmp.Or(cfg.Rescan, time.Minute)
	if cfg.Turn == nil {
		cfg.Turn = atOnce
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Index{cfg: cfg, path: filepath.Join(cfg.Dir, "index.db")}
}

// Close closes the file when the calls in progress have returned. Later calls fail.
func (x *Index) Close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.closed = true
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
const format = 5

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
	embedded TEXT NOT NULL DEFAULT '' -- the model, once all passages have vectors
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
CREATE TABLE passages(note INTEGER NOT NULL, seq INTEGER NOT NULL, key TEXT NOT NULL, PRIMARY KEY (note, seq)) WITHOUT ROWID;
CREATE TABLE vectors(
	key TEXT NOT NULL PRIMARY KEY,      -- SHA-256 of the model and the text
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
		return x.db, nil
	}
	if x.closed {
		return nil, errClosed
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
	if err := prepare(ctx, db); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	x.db = db
	return db, nil
}

// create creates an empty file that only the user can read, unless there is a file.
// SQLite gives its log the same mode.
func (x *Index) create() error {
	if x.cfg.Dir == filepath.Join(x.cfg.Vault.Dir(), ".sequent") {
		root, err := x.cfg.Vault.State() // creates it
		if err != nil {
			return err
		}
		_ = root.Close()
	}
	info, err := os.Lstat(x.path)
	if err == nil && !info.Mode().IsRegular() {
		return errForeign
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(x.path, os.O_CREATE|os.O_RDWR, 0o600)
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
	err := inTx(ctx, db, nil, func(tx *sql.Tx) error {
		var version, objects int
		err := tx.QueryRowContext(ctx, "SELECT user_version, (SELECT count(*) FROM sqlite_schema) FROM pragma_user_version").Scan(
			&version, &objects)
		if err == nil && objects == 0 {
			version = format
			_, err = tx.ExecContext(ctx, schema+fmt.Sprintf("PRAGMA user_version=%d", format))
		}
		if err == nil && version != format {
			err = errDamaged
		}
		return err
	})
	if err == nil {
		_, _ = db.ExecContext(ctx, "PRAGMA journal_mode=wal") // only makes writers and readers wait less
	}
	return err
}

// A scanner reads the columns of a row, as [sql.Rows.Scan] does.
type scanner func(columns ...any) error

// each calls f with each row of a query.
func each(ctx context.Context, tx *sql.Tx, f func(scanner) error, query string, args ...any) error {
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // Err has the error
	for rows.Next() {
		if err := f(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// column returns the only column of a query.
func column[T any](ctx context.Context, tx *sql.Tx, query string, args ...any) (all []T, err error) {
	return all, each(ctx, tx, func(scan scanner) error {
		var v T
		err := scan(&v)
		all = append(all, v)
		return err
	}, query, args...)
}

func inTx(ctx context.Context, db *sql.DB, opts *sql.TxOptions, f func(*sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, opts)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after a commit
	if err := f(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// executor returns a function that executes statements until the first error.
func executor(ctx context.Context, tx *sql.Tx, err *error) func(query string, args ...any) {
	return func(query string, args ...any) {
		if *err == nil {
			_, *err = tx.ExecContext(ctx, query, args...)
		}
	}
}

// write calls f in a transaction that no other writes beside. With a context that can be
// cancelled, each statement would start a goroutine.
func (x *Index) write(ctx context.Context, f func(ctx context.Context, tx *sql.Tx) error) error {
	db, err := x.open(ctx)
	if err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	return inTx(ctx, db, nil, func(tx *sql.Tx) error { return f(ctx, tx) })
}

// view calls f with one state of the index.
func (x *Index) view(ctx context.Context, f func(*sql.Tx) error) error {
	db, err := x.open(ctx)
	if err != nil {
		return err
	}
	return inTx(ctx, db, &sql.TxOptions{ReadOnly: true}, f)
}

// read is view, and rebuilds a damaged index.
func (x *Index) read(ctx context.Context, f func(*sql.Tx) error) error {
	return x.repairing(ctx, func() error { return x.view(ctx, f) })
}

// repairing calls f. If the index is damaged, it rebuilds it and calls f again.
func (x *Index) repairing(ctx context.Context, f func() error) error {
	err := f()
	if isDamage(err) && ctx.Err() == nil {
		x.cfg.Log.WarnContext(ctx, "the index of the vault is damaged; it is rebuilt", "index", x.path, "error", err)
		if err = x.discard(); err == nil {
			_, err = x.sync(ctx, func(Progress) {}, atOnce)
		}
		if err == nil {
			err = f()
		}
	}
	if err != nil && ctx.Err() != nil { // SQLite's error only says that it was interrupted
		err = ctx.Err()
	}
	return wrap(err)
}
