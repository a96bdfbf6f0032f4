package jsonlines_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/e2e/example/jsonlines"
)

// Use a store of your own: sessions are still there after it was opened again, and
// searches have the query language of all stores.
func ExampleOpen() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "sequent-example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "sessions.jsonl")

	record := func() error {
		store, err := jsonlines.Open(path)
		if err != nil {
			return err
		}
		defer store.Close()
		_, err = sequent.New(sequent.Config{Store: store}).Append(ctx, "deploys",
			sequent.Draft{Number: 1, Text: "The cache is cold after each deploy."},
			sequent.Draft{Number: 2, Text: "Warm it from the previous instance.", Final: true},
		)
		return err
	}
	if err := record(); err != nil {
		fmt.Println(err)
		return
	}

	store, err := jsonlines.Open(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()
	hits, err := sequent.New(sequent.Config{Store: store}).Search(ctx, sequent.SearchQuery{Text: `"previous instance" -cold`})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, hit := range hits.Hits {
		fmt.Printf("%s/%d: %s\n", hit.Key.ID, hit.Thought.Seq, hit.Thought.Text)
	}
	// Output:
	// deploys/2: Warm it from the previous instance.
}
