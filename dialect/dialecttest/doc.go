// Package dialecttest checks dialects: against transcripts of their contract,
// and against the rules that hold for all of them.
//
//	func TestDialect(t *testing.T) {
//		dialecttest.Run(t, dialecttest.Config{Build: build, Call: call})
//	}
//
// # Transcripts
//
// Each file testdata/*.txtar is a transcript: a comment that names the rule it shows, and
// a sequence of steps. It runs twice with a new engine: in scopes that processes share,
// and in scopes of this process alone. The store is compared before and after each
// refusal: a refused call that changes anything fails the test, whatever the transcript
// expects.
//
//	Numbers may be left out.
//
//	-- call --
//	{"thought": "a", "nextThoughtNeeded": true}
//	-- reply --
//	{"sessionId":"$ID1","thoughtNumber":1,"totalThoughts":1}
//	-- call recall_thinking scope=other --
//	{"sessionId": "$ID1"}
//	-- text --
//	…
//
// Steps:
//
//	call [TOOL] [scope=S] [owner=O]   calls a tool, the dialect's first by default, with the JSON below.
//	                                  Without scope= it is called in the scope "test"; scope=- means none
//	read URI [scope=S] [owner=O]      reads a resource
//	prompt NAME [scope=S] [owner=O]   gets a prompt; the JSON below holds its arguments
//	complete URI|NAME.ARG [PREFIX]    completes the variable of a template or an argument of a prompt
//	given ID [dialect=D] [owner=O]    records the lines below as thoughts of a new session, as another dialect would
//	delete ID [owner=O]               deletes a session
//	note ID SEQ [KIND] [from=NAME]    adds the text below as a note of a person to a thought
//	wait DURATION                     advances the clock, in addition to the second of each step
//	put NAME                          writes the text below to a file below dialect.Env.Dir, as a person would
//	restart                           creates the dialect and its engine again, with the same store
//
// A step with project=P comes from a project, and one with agent=A from an agent with that
// name. With process=S in the place of scope= it is made in the scope of a process, which
// only that process uses.
//
// Expectations, after a step:
//
//	reply             of a call: the text, which must equal the structured content
//	text              of a call: the text; there is no structured content, or json follows
//	refusal           of a call: the text of a failed reply; json may follow
//	json              the structured content, if it differs from the text
//	error             of a call: code, message and data of a protocol error; of others: the error
//	beside            of a call: the texts beside the reply
//	document          of read
//	message           of prompt
//	values            of complete, one a line
//	log ID [owner=O]  the session in the store, in the form of [Log]
//	list DIR, file NAME, stderr       what the dialect wrote below dialect.Env.Dir, and to Stderr since the last stderr step
//
// A name in capitals after a dollar sign stands for a value of the dialect: $ID1 is bound
// at its first use, to characters of a session id, and stands for that value from then
// on. In a call, $(a*300) is the letter a 300 times.
//
// The flag -update writes the results into the transcripts, and binds $ID1, $ID2, … to
// new session ids. Read the diff.
//
// # Rules for all dialects
//
// The rules for all dialects are checked with calls from [Config]: loose arguments,
// unusual names and texts, limits, faults of the store, concurrent callers, and the list
// of tools, whose golden file is testdata/tools.json.
package dialecttest
