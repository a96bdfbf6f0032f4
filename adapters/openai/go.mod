module github.com/sequent-dev/sequent/adapters/openai

go 1.26.0

require (
	github.com/openai/openai-go/v3 v3.96.0
	github.com/sequent-dev/sequent v0.0.0
)

require (
	github.com/coder/websocket v1.8.15 // indirect
	github.com/tidwall/gjson v1.20.0 // indirect
	github.com/tidwall/match v1.1.1 // indirect
	github.com/tidwall/pretty v1.2.1 // indirect
	github.com/tidwall/sjson v1.2.5 // indirect
	golang.org/x/text v0.43.0 // indirect
)

// For development. Users of this module do not see it: see decision 0173.
replace github.com/sequent-dev/sequent => ../..
