package sequent_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/sequent-dev/sequent"
)

// Record a chain of thoughts with a revision, and read back what it stands for
// now.
func Example() {
	engine := sequent.New(sequent.Config{})
	session, err := engine.Append(context.Background(), "deploys",
		sequent.Draft{Number: 1, Text: "The cache is cold after each deploy."},
		sequent.Draft{Number: 2, Text: "Warm it from the access log."},
		sequent.Draft{Number: 3, Text: "Warm it from the previous instance: the log lags.", Revises: sequent.To(2), Final: true},
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, step := range session.Effective(sequent.MainLine) {
		fmt.Printf("%d. %s\n", step.Place, step.Text)
	}
	fmt.Println(session.Len(), "thoughts,", session.State())
	// Output:
	// 1. The cache is cold after each deploy.
	// 2. Warm it from the previous instance: the log lags.
	// 3 thoughts, completed
}

// A change function decides about the session it sees, atomically with the
// append.
func ExampleEngine_Update() {
	ctx := context.Background()
	engine := sequent.New(sequent.Config{})
	errUnknown := errors.New("there is no such thought to revise")

	revise := func(number int, text string) error {
		_, err := engine.Ensure(ctx, "s", func(c *sequent.Change) error {
			s := c.Session()
			if _, ok := s.Find("", number); !ok {
				return errUnknown
			}
			_, err := c.Append(sequent.Draft{
				Number: s.NextNumber(""), Text: text, Revises: sequent.To(number),
			})
			return err
		})
		return err
	}

	fmt.Println(revise(1, "Better."))
	_, err := engine.Session(ctx, "s")
	fmt.Println(errors.Is(err, sequent.ErrNotFound))
	// Output:
	// there is no such thought to revise
	// true
}

// Follow a session while others write to it.
func ExampleEngine_Watch() {
	ctx := context.Background()
	engine := sequent.New(sequent.Config{})
	say := func(number int, text string) {
		if _, err := engine.Append(ctx, "s", sequent.Draft{Number: number, Text: text, Final: number == 3}); err != nil {
			fmt.Println(err)
		}
	}

	watch, err := engine.Watch(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer watch.Close()
	watch.Add(sequent.Key{ID: "s"}) // before the session is read, so that no change is missed
	say(1, "Look.")
	for seen := 0; seen < 3; {
		if _, err := watch.Wait(ctx); err != nil {
			fmt.Println(err)
			return
		}
		session, err := engine.Session(ctx, "s")
		if err != nil {
			fmt.Println(err)
			return
		}
		for thought := range session.Since(seen) {
			fmt.Println(thought.Number, thought.Text)
			if seen = thought.Seq; !thought.Final {
				go say(thought.Number+1, []string{"Think.", "Act."}[thought.Number-1])
			}
		}
	}
	// Output:
	// 1 Look.
	// 2 Think.
	// 3 Act.
}

// Keep the sessions of several users apart.
func ExampleEngine_Owned() {
	ctx := context.Background()
	engine := sequent.New(sequent.Config{})
	alice, bob := engine.Owned("alice"), engine.Owned("bob")

	_, err := alice.Begin(ctx, "s", func(c *sequent.Change) error {
		_, err := c.Append(sequent.Draft{Number: 1, Text: "Mine."})
		return err
	})
	fmt.Println(err)
	_, err = bob.Session(ctx, "s")
	fmt.Println(sequent.CodeOf(err))
	// Output:
	// <nil>
	// session_not_found
}
