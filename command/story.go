package command

// A call holds the arguments of the tool sequentialthinking.
type call struct {
	SessionID         string `json:"sessionId,omitempty"`
	Thought           string `json:"thought"`
	NextThoughtNeeded bool   `json:"nextThoughtNeeded"`
	TotalThoughts     int    `json:"totalThoughts,omitempty"`
	RevisesThought    int    `json:"revisesThought,omitempty"`
	BranchFromThought int    `json:"branchFromThought,omitempty"`
	BranchID          string `json:"branchId,omitempty"`

	Chooses string   `json:"chooses,omitempty"`
	Rejects []string `json:"rejects,omitempty"`
}

// story returns the thoughts of the demo. The server numbers them.
func story() []call {
	const pool, slots = "bigger-pool", "release-early"
	return []call{
		{
			Thought: "Checkout times out for about one order in two hundred, only at busy hours, and only since Tuesday's " +
				"release. What changed on Tuesday, and what is different at busy hours?",
			TotalThoughts: 6,
		},
		{Thought: "The payment query is the slowest in the trace: 29 of the 30 seconds. Suspect the database under load: look " +
			"at query plans and locks."},
		{Thought: "Tuesday's diff: the order worker went from 8 to 32 goroutines, and a fraud check over HTTP was added inside " +
			"the payment transaction. The connection pool is still at 10."},
		{
			Thought: "The database is idle. Its own log has the payment query at 4 ms, every plan as before, no lock waits. The " +
				"29 seconds pass before the query is sent: the trace starts its clock when it asks for a connection.",
			RevisesThought: 2,
		},
		{Thought: "So it is the pool: 32 workers share 10 connections, and each keeps its connection while the fraud check " +
			"takes 0.2 to 9 s. At busy hours the queue for a connection passes 30 s. That explains one in two hundred."},
		{
			Thought:           "Option: raise the pool from 10 to 40, one line of configuration.",
			BranchFromThought: 5, BranchID: pool,
		},
		{
			Thought: "Four replicas times 40 is 160; the database allows 100. And a fraud check that hangs would still hold a " +
				"connection. This moves the wall, it does not remove it. Drop it.",
			BranchID: pool,
		},
		{
			Thought:           "Option: do the fraud check before the transaction begins, so that no connection waits for the network.",
			BranchFromThought: 5, BranchID: slots,
		},
		{
			Thought: "Load test with the check moved: 32 workers, checks slowed to 9 s, never more than 7 connections in use, no " +
				"timeout in 50,000 orders. The check can be repeated, so a rollback after it costs nothing.",
			BranchID: slots,
		},
		{Thought: "Back to the cause: nothing warned us, because the pool's waiting time is not measured. Add it to the " +
			"dashboard, with an alarm at one second."},
		{
			Thought: "Conclusion: the fraud check inside the transaction starved the connection pool. Move it before the " +
				"transaction (branch release-early), keep the pool at 10, measure the wait for a connection.",
			Chooses: slots, Rejects: []string{pool},
		},
	}
}
