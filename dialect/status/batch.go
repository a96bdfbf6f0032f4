package status

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/brief"
	"github.com/sequent-dev/sequent/tool"
)

// DefaultParallel is how many items of a batch models write at a time.
const DefaultParallel = 4

// batchArgs are the arguments of sequential_thinking_batch.
type batchArgs struct {
	Steps   []batchStep `json:"steps"`
	Session string      `json:"session_id,omitzero"`
}

// itemField returns the error of an item with the item in its field.
func itemField(i int, err error) error {
	if e, ok := errors.AsType[*tool.ArgumentError](err); ok {
		named := *e
		named.Field = "steps[" + strconv.Itoa(i) + "]." + e.Field
		return &named
	}
	return err
}

// batch answers sequential_thinking_batch: all steps are recorded in one commit, or none.
func (d *server) batch(ctx context.Context, c tool.Call, in batchArgs) (tool.Reply, error) {
	id := step{Session: in.Session}.id()
	for i, b := range in.Steps {
		if err := b.in(in.Session).check(); err != nil {
			return tool.Reply{}, itemField(i, err)
		}
	}
	leave, err := d.enter(ctx, c, id)
	if err != nil {
		return tool.Reply{}, err
	}
	defer leave()
	replies := make([]plainReply, len(in.Steps))
	s, err := d.change(ctx, c.Caller, id, func(c *sequent.Change) error {
		for i, b := range in.Steps {
			st := b.in(in.Session)
			if err := add(c, st.draft()); err != nil {
				return itemRefused(i, err)
			}
			s := c.Session()
			replies[i] = plainReply{
				Number: st.Number, Total: st.total(), Next: st.Next,
				Branches: s.Branches(), Length: s.Len(), Session: id, Status: st.status("recorded"),
			}
		}
		return nil
	})
	if err != nil {
		return tool.Reply{}, err
	}
	r := tool.JSONReply(struct {
		Steps []plainReply `json:"steps"`
	}{replies})
	r.Beside = brief.Beside(s)
	return r, nil
}

// itemRefused returns the error for which an item refuses a batch, with the item in its
// message.
func itemRefused(i int, err error) error {
	if e, ok := errors.AsType[*sequent.Error](err); ok {
		named := *e
		named.Msg = "steps[" + strconv.Itoa(i) + "]: " + e.Msg
		return &named
	}
	return err
}

// externalItem is a step of sequential_thinking_external_batch.
type externalItem struct {
	batchStep
	modelArgs
}

// externalBatchArgs are the arguments of sequential_thinking_external_batch.
type externalBatchArgs struct {
	Steps   []externalItem `json:"steps"`
	Session string         `json:"session_id,omitzero"`
}

// A failedReply says why an item was not recorded.
type failedReply struct {
	Number  int    `json:"thought_number"`
	Status  string `json:"status"` // failed
	Error   string `json:"error"`
	Content string `json:"thought_content,omitzero"` // an answer that could not be recorded
	Model   string `json:"model_used,omitzero"`
}

// An item is a step of a batch that models write.
type item struct {
	args  externalArgs
	after []int         // items that it builds on
	done  chan struct{} // closed when the item is recorded or failed

	// Set before done is closed:
	reply    externalReply
	err      error
	panicked any
}

// externalBatch answers sequential_thinking_external_batch. Models write items beside each
// other, unless one builds on another. Items are recorded in the order of the request, each
// in a commit of its own, so that one that fails does not cost the others.
func (d *server) externalBatch(ctx context.Context, c tool.Call, in externalBatchArgs) (tool.Reply, error) {
	id := step{Session: in.Session}.id()
	items := make([]*item, len(in.Steps))
	for i, e := range in.Steps {
		items[i] = &item{done: make(chan struct{}), args: externalArgs{e.in(in.Session), e.modelArgs}}
		if err := items[i].args.check(); err != nil {
			return tool.Reply{}, itemField(i, err)
		}
		items[i].after = buildsOn(items[:i], items[i].args.step)
	}
	leave, err := d.enter(ctx, c, id)
	if err != nil {
		return tool.Reply{}, err
	}
	defer leave()
	report := c.Progress
	c.Text = nil // the texts of several items would mix
	free := make(chan struct{}, d.parallel)
	var running sync.WaitGroup
	for i, it := range items {
		running.Go(func() {
			defer close(it.done)
			defer func() {
				if it.panicked = recover(); it.panicked != nil {
					it.err = errors.New("status: a panic")
				}
			}()
			draft, err := d.produceItem(ctx, c, items, it, id, free)
			if i > 0 {
				<-items[i-1].done
			}
			if err == nil {
				err = d.recordItem(ctx, c.Caller, id, it, draft)
			}
			if it.err = err; report != nil {
				report("", float64(i+1), float64(len(items)))
			}
		})
	}
	running.Wait()
	for _, it := range items {
		if it.panicked != nil {
			panic(it.panicked) // where the caller of the tool recovers
		}
	}
	if err := context.Cause(ctx); err != nil { // what was answered is recorded
		return tool.Reply{}, &sequent.Error{Code: sequent.CodeCanceled, Msg: "the call was cancelled", Err: err}
	}
	return batchReply(items), nil
}

// produceItem returns the thought of an item, after those that it builds on are recorded.
func (d *server) produceItem(ctx context.Context, c tool.Call, items []*item, it *item, id sequent.ID, free chan struct{}) (draft sequent.Draft, err error) {
	it.reply.Number = it.args.Number
	for _, j := range it.after {
		if <-items[j].done; items[j].err != nil {
			return draft, &ModelError{Setup: true, Msg: "not asked, because steps[" + strconv.Itoa(j) + "], which it builds on, failed"}
		}
	}
	if it.args.asks() {
		select {
		case free <- struct{}{}:
			defer func() { <-free }()
		case <-ctx.Done():
			return draft, &sequent.Error{Code: sequent.CodeCanceled, Msg: "the call was cancelled", Err: ctx.Err()}
		}
	}
	draft, it.reply, err = d.produce(ctx, c, it.args, id, func() {})
	return draft, err
}

// recordItem records an item, also if the call was cancelled meanwhile: the answer is paid
// for.
func (d *server) recordItem(ctx context.Context, caller tool.Caller, id sequent.ID, it *item, draft sequent.Draft) error {
	if it.args.asks() {
		ctx = context.WithoutCancel(ctx)
	}
	s, err := d.record(ctx, caller, id, draft)
	if err == nil {
		it.reply.Branches, it.reply.Length = s.Branches(), s.Len()
	}
	return err
}

// buildsOn returns the items on which a step builds, which must be recorded before a model
// is asked: the last one on the same line, the one at which its branch leaves, and the one
// that it corrects. A branch that names no thought leaves at the last one.
func buildsOn(before []*item, st step) (list []int) {
	opens := st.Branch != ""
	for _, it := range before {
		opens = opens && it.args.Branch != st.Branch
	}
	for i, it := range slices.Backward(before) {
		same := it.args.Branch == st.Branch
		last := opens && st.From == 0 && i == len(before)-1
		if same || last || opens && it.args.Number == st.From || st.revises() && it.args.Number == st.Revises {
			list = append(list, i)
		}
		if same {
			break
		}
	}
	return list
}

// batchReply returns the replies of all items, in their order.
func batchReply(items []*item) tool.Reply {
	replies := make([]any, len(items))
	recorded := 0
	for i, it := range items {
		if it.err == nil {
			replies[i] = it.reply
			recorded++
			continue
		}
		failed := failedReply{Number: it.args.Number, Status: "failed", Error: externalWords.reason(it.err), Model: it.reply.Model}
		if failed.Model != "" {
			failed.Content = it.reply.Content
		}
		replies[i] = failed
	}
	r := tool.JSONReply(struct {
		Steps    []any `json:"steps"`
		Recorded int   `json:"recorded"`
	}{replies, recorded})
	r.Failed = recorded == 0
	return r
}
