package web

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/store/sqlite"
)

var pictures = flag.String("pictures", "", "folder in which to save a picture of every state, for a person to look at")

// picture saves what can be seen in windows of all widths, light and dark.
func (p *tab) picture(name string) {
	p.t.Helper()
	if *pictures == "" {
		return
	}
	for _, width := range []int64{1280, 1600, 390} {
		for _, theme := range []string{"light", "dark"} {
			if theme == "dark" && width == 1600 {
				continue
			}
			p.theme(theme)
			p.size(width, 900)
			height := eval[int64](p, `document.querySelector('[data-view="read"]')?.scrollHeight || document.scrollingElement.scrollHeight`)
			p.size(width, min(max(height, 900), 6000))
			data, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
			if err != nil {
				p.fatal(err)
			}
			if err := os.WriteFile(filepath.Join(*pictures, fmt.Sprintf("%s-%d-%s.png", name, width, theme)), data, 0o644); err != nil {
				p.t.Fatal(err)
			}
		}
	}
	p.theme("light")
	p.size(1280, 900)
}

// incident records the session of the design: code, a revision, a table, branches with each fate, and a note.
func incident(t *testing.T, e *sequent.Engine) {
	t.Helper()
	to := sequent.To
	origin := sequent.WithOrigin(t.Context(), func() sequent.Origin {
		return sequent.Origin{Client: "claude-code", GitBranch: "main", Commit: "52d51190aa"}
	})
	texts := []string{
		"Checkout times out for about one order in two hundred, only at busy hours, and only since Tuesday’s release. What did Tuesday’s release change, and what is different at busy hours? The trace of a failed order shows 30.0 s in `INSERT INTO payments`. A good order takes 40 ms from end to end.",
		"The payment query is the slowest span in the trace: 29 of the 30 seconds. Suspect the database under load. Look at query plans, lock waits and the disk of the primary before anything else.",
		"Tuesday’s diff has three changes that could matter:\n\n1. The order worker runs 32 goroutines; before, it ran 8.\n2. A fraud check over HTTP was added, inside the payment transaction.\n3. `lib/pq` gave way to `pgx`. The pool stayed at 10 connections.\n\n```diff\nfunc (w *Worker) pay(ctx context.Context, o Order) error {\n\treturn w.pool.InTx(ctx, func(tx Tx) error {\n+\t\tif err := w.fraud.Check(ctx, o); err != nil {\n+\t\t\treturn err\n+\t\t}\n\t\treturn tx.InsertPayment(ctx, o)\n\t})\n}\n```",
		"The database is idle. Its own log has the payment query at 4 ms, every plan as before, no lock waits. The 29 seconds pass *before* the query is sent: the trace starts its clock when it asks for a connection, and [Acquire waits without a limit of its own](https://pkg.go.dev/github.com/jackc/pgx/v5/pgxpool).",
		"So it is the pool. 32 workers share 10 connections, and each keeps its connection while the fraud check takes 0.2 to 9 s. The wait follows the load:\n\n| Hour | Orders/min | In use | Wait, p99 | Timeouts |\n|---|--:|--:|--:|--:|\n| 06:00 | 40 | 2 of 10 | 0.0 s | 0 |\n| 12:00 | 310 | 10 of 10 | 11.8 s | 0 |\n| 18:00 | 520 | 10 of 10 | 31.4 s | 156 |\n\nAt 18:00 the queue passes the limit of 30 s, and 156 of 31,200 orders is one in two hundred.",
	}
	code := "```go\n// pay checks the order first. The transaction\n// holds a connection only for its two statements.\nfunc (w *Worker) pay(ctx context.Context, o Order) error {\n\tctx, cancel := context.WithTimeout(ctx, checkTimeout)\n\tdefer cancel()\n" + strings.Repeat("\n\tverdict, err := w.fraud.Check(ctx, o, o.Key())\n\tif err != nil {\n\t\treturn fmt.Errorf(\"fraud check %s: %w\", o.ID, err)\n\t}\n", 4) + "\treturn nil\n}\n```"
	drafts := []sequent.Draft{
		{Number: 1, Text: texts[0]}, {Number: 2, Text: texts[1]}, {Number: 3, Text: texts[2]}, {Number: 4, Text: texts[3], Revises: to(2), Revision: true}, {Number: 5, Text: texts[4]},
		{Number: 6, Text: "Raise the pool from 10 to 40: one line of configuration, no release.", Branch: "bigger-pool", From: to(5)},
		{Number: 7, Text: "Four replicas times 40 is 160 connections; the database allows 100. A fraud check that hangs would still hold its connection. This moves the wall and does not remove it.", Branch: "bigger-pool"},
		{Number: 6, Text: "Do the fraud check before the transaction begins, so that no connection waits for the network. If the insert then fails, the check runs again under the same key and costs nothing.\n\n" + code, Branch: "release-early", From: to(5)},
		{Number: 7, Text: "Load test with the check moved: 32 workers, checks slowed to 9 s.\n\n- Never more than 7 of the 10 connections in use\n- No timeout in 50,000 orders\n- A rollback after the check leaves nothing behind", Branch: "release-early"},
		{Number: 6, Text: "Accept the order first and do the fraud check from a queue; checkout would not wait for it at all. The payments team has to say whether an order may be confirmed before its check.", Branch: "check-in-queue", From: to(5)},
		{Number: 6, Text: "Back to the cause: nothing warned us, because the wait for a connection is not measured. `pgxpool` already counts it in `AcquireDuration`. Put it on the dashboard, with an alarm at one second."},
	}
	_, err := e.Ensure(origin, "incident", func(c *sequent.Change) error {
		for _, d := range drafts {
			if _, err := c.Append(d); err != nil {
				return err
			}
		}
		if err := c.AddNote(sequent.Note{Seq: 5, Text: "Friday agrees: from 18:10 to 18:40 the pool was at 10 of 10 for the whole half hour. The p99 panel missed it because it drops cancelled requests.", From: "The reviewer"}); err != nil {
			return err
		}
		if _, err := c.Append(sequent.Draft{Number: 7, Final: true, Text: "The fraud check inside the transaction starved the connection pool. Move it before the transaction, keep the pool at 10, and measure the wait for a connection.\n\n1. Ship `release-early` behind the flag `check_first`, one replica first.\n2. Add `AcquireDuration` to the dashboard; alarm at 1 s.\n3. Leave `check-in-queue` open until the payments team answers."}); err != nil {
			return err
		}
		if err := c.Decide("release-early", sequent.Chosen); err != nil {
			return err
		}
		return c.Decide("bigger-pool", sequent.Rejected)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestRead reads a session as an article.
func TestRead(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "sequent.db")
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: file})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	e := sequent.New(sequent.Config{Store: store})
	incident(t, e)
	p := newBrowser(t).open(t, serveAll(t, app.Config{Store: file})+"/ui/s/incident")
	p.wait(`document.querySelectorAll('.thought').length === 12 && performance.getEntriesByName('following').length > 0`)
	p.picture("read")
	p.clean()
}
