// Package dialecttest checks dialects: against transcripts of their contract,
// and against the rules that hold for all of them.
//
//	func TestDialect(t *testing.T) {
//		dialecttest.Run(t, dialecttest.Config{Build: build, Call: call})
//	}
//
// # Transcripts
//
// Every testdata/*.txtar is a transcript: a comment that says which rule it
// shows, and a sequence of steps. A transcript runs over a fresh engine, twice:
// in scopes that this process shares with others and in scopes that it has for
// itself. Before and after each refusal the whole store is compared: a refused
// call that changes anything fails the test, whatever the transcript says.
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
// What can be done:
//
//	call [TOOL] [scope=S] [owner=O]   calls a tool, the dialect's first by default, with the JSON below.
//	                                  Without scope= it is called in the scope "test"; scope=- means none
//	read URI [scope=S] [owner=O]      reads a resource
//	prompt NAME [scope=S] [owner=O]   gets a prompt; the JSON below holds its arguments
//	complete URI|NAME.ARG [PREFIX]    completes the variable of a template or an argument of a prompt
//	given ID [dialect=D] [owner=O]    records the lines below as thoughts of a new session, as another dialect would
//	delete ID [owner=O]               deletes a session
//	wait DURATION                     lets time pass, beyond the second that each step takes
//	put NAME                          writes the text below to a file below dialect.Env.Dir, as a person would
//	restart                           makes the dialect and its engine anew, over the same store
//
// What is expected of it:
//
//	reply             of a call: the text, which must equal the structured content
//	text              of a call: the text; there is no structured content, or json follows
//	refusal           of a call: the text of a failed reply; json may follow
//	json              the structured content, where it is not the text
//	error             of a call: code, message and data of a protocol error; of others: the error
//	document          of read
//	message           of prompt
//	values            of complete, one a line
//	log ID [owner=O]  what the store has of a session, in a form that [Log] describes
//	list DIR, file NAME, stderr       what the dialect wrote below dialect.Env.Dir, and to its Stderr since last asked
//
// Names in capitals after a dollar sign stand for what the dialect makes up:
// $ID1 is bound where it is first seen, to characters that may stand in a
// session id, and replaced by that from then on. In a call, $(a*300) is the
// letter a three hundred times.
//
// The flag -update writes what was got into the transcripts, and binds
// $ID1, $ID2, … to the session ids that are new in it. Read the diff.
//
// # Rules for all dialects
//
// What one dialect and another have in common is checked with calls that
// [Config] makes: loose arguments, names and texts of every odd kind, limits,
// faults of the store, concurrent callers, and the list of tools, whose golden
// file is testdata/tools.json.
package dialecttest
