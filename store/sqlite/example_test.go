package sqlite_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/sqlite"
)

// Keep sessions in a file that processes share, for 30 days after their last change.
func ExampleOpen() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "sequent-example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)

	store, err := sqlite.Open(ctx, sqlite.Config{Path: filepath.Join(dir, "sequent.db")})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()
	engine := sequent.New(sequent.Config{Store: store, TTL: 30 * 24 * time.Hour})
	session, err := engine.Ensure(ctx, "deploys", func(c *sequent.Change) error {
		_, err := c.Append(sequent.Draft{Number: 1, Text: "The cache is cold after each deploy."})
		return err
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(session.Title())
	swept, err := engine.Sweep(ctx, sequent.Query{AllOwners: true, Expired: engine.Now()}) // deletes what has expired; call it now and then
	fmt.Println(swept, err)
	// Output:
	// The cache is cold after each deploy.
	// 0 <nil>
}
