# Every target works on its own; plain `make` lists them.

FUZZTIME ?= 1m
PLATFORMS = linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64

# The race detector needs cgo and a C compiler; without them tests run without it. It does not watch inside of SQLite, which
# is C translated to Go, and of which one goroutine at a time uses a connection: tests of stores take half the time.
CC_FOUND := $(shell command -v $$(go env CC) 2>/dev/null)
RACE := $(if $(and $(filter 1,$(shell go env CGO_ENABLED)),$(CC_FOUND)),-race -gcflags=modernc.org/sqlite/lib=-race=false)
MODULES = . $(patsubst %/go.mod,%,$(shell git ls-files '*/go.mod'))
ADAPTERS = $(filter adapters/%,$(MODULES))

help: ## print this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "%-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

check: lint cross test ## lint, cross-compile and test, as .ci/run does

# Tests end to end use programs, in which the race detector sees nothing, except those of the viewer's pages. They wait a lot,
# so three packages run at a time. Vet is part of lint.
E2E = $(filter-out %/web,$(shell go list ./internal/e2e/...))

test: ## every test, shuffled, with the race detector where there is a C compiler
	go test $(RACE) -vet=off -shuffle=on -timeout 20m $(filter-out $(E2E),$(shell go list ./...))
	go test -p 3 -vet=off -shuffle=on -timeout 30m $(E2E)
	@$(MAKE) --no-print-directory adapters

# Frameworks are large, so they are compiled once, without the race detector.
adapters: ## vet and test the adapters, which are modules of their own
	@for m in $(ADAPTERS); do echo "go vet and test in $$m"; (cd $$m && go vet ./... && go test -vet=off -shuffle=on -timeout 20m ./...) || exit 1; done

lint: ## formatting, vet, staticcheck, modern idioms, tidy modules
	@files=$$(gofmt -l $$(git ls-files '*.go')); [ -z "$$files" ] || { echo "gofmt -w is needed:"; echo "$$files"; exit 1; }
	go vet ./...
	go tool -modfile=tools/go.mod staticcheck -checks=all ./...
	@for m in $(ADAPTERS); do echo "staticcheck in $$m"; (cd $$m && go tool -modfile=$(CURDIR)/tools/go.mod staticcheck -checks=all ./...) || exit 1; done
	@diff=$$(go fix -diff ./...) && [ -z "$$diff" ] || { echo "go fix ./... is needed:"; echo "$$diff"; exit 1; }
	@for m in $(MODULES); do echo "go mod tidy -diff in $$m"; (cd $$m && go mod tidy -diff) || exit 1; done

# Two systems at a time: SQLite is one large package, which one core compiles.
cross: ## build the binary for every system, without cgo, and vet for each
	@printf '%s\n' $(PLATFORMS) | xargs -P 2 -n 1 sh -c 'echo "build $$0"; \
		CGO_ENABLED=0 GOOS=$${0%/*} GOARCH=$${0#*/} go build -trimpath -o /dev/null ./cmd/sequent'
	@for os in darwin windows; do echo "vet $$os"; CGO_ENABLED=0 GOOS=$$os go vet -trimpath ./... || exit 1; done

update: ## rewrite golden files and transcripts; then read the diff
	go test $$(git grep -lE 'flag.Bool\("update"|dialect/dialecttest"$$' -- '*_test.go' | xargs -n1 dirname | sort -u | sed 's|^|./|') -update

generate: ## rewrite docs/reference
	go test $$(git grep -lE 'func TestReference(Commands|Dialects|Errors|Providers|Clients|Metrics)\(' -- '*_test.go' | xargs -n1 dirname | sort -u | sed 's|^|./|') -run TestReference -update

fuzz: ## run each fuzz target for FUZZTIME (1m)
	@git grep -l '^func Fuzz' -- '*_test.go' | xargs -n1 dirname | sort -u | while read -r dir; do \
		for f in $$(grep -hoE '^func Fuzz[A-Za-z0-9_]+' $$dir/*_test.go | cut -d' ' -f2); do \
			echo "== $$f in ./$$dir, $(FUZZTIME)"; \
			go test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 100x ./$$dir || exit 1; \
		done; done

crash: ## long tests of the stores: kill -9 under load, eight processes, locked sessions, frozen replicas, failover
	SEQUENT_LONG=1 go test -count=1 -v -timeout 60m ./store/sqlite
	SEQUENT_LONG=1 go test -count=1 -v -timeout 60m -run 'Locked|Frozen|Unreachable|EveryCall|Failover|LostCommits|Moved|Promoted' ./store/postgres ./internal/e2e/replicas

attacks: ## one client attacks the server, another one is measured; on a quiet machine with Linux
	SEQUENT_LONG=1 go test -count=1 -v -timeout 20m ./internal/e2e/attacks

figures: ## measure search and sync of a vault with 10,000 notes
	SEQUENT_LONG=1 go test -count=1 -v -run TestFigures -timeout 20m ./vault/index

postgres: ## tests with PostgreSQL, on temporary servers
	SEQUENT_REQUIRE=all go test $(RACE) -count=1 -shuffle=on -timeout 20m ./store/postgres ./internal/e2e/replicas

REFERENCE = internal/e2e/node_modules/@modelcontextprotocol/server-sequential-thinking/dist/index.js
ONE_CORE := $(if $(shell command -v taskset),taskset -c 0)

bench: ## compare with the reference on one core, into docs/benchmarks.md (needs Node.js)
	@[ -f $(REFERENCE) ] || $(MAKE) --no-print-directory npm
	@dir=$$(mktemp -d) && trap 'rm -r "$$dir"' EXIT && \
		CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o "$$dir/" ./cmd/sequent ./internal/bench && \
		$(ONE_CORE) "$$dir/bench" -sequent "$$dir/sequent" -reference $(REFERENCE) -out docs/benchmarks.md
	go test -count=1 ./internal/picture -run Plots -update

benchpostgres: ## measure with PostgreSQL, into docs/benchmarks-postgres.md (takes ten minutes)
	SEQUENT_REQUIRE=all go test -count=1 -v -timeout 60m -run '^TestPostgres$$' ./internal/bench -page $(CURDIR)/docs/benchmarks-postgres.md
	go test -count=1 ./internal/picture -run Plots -update

# BEFORE is a program that was built from an earlier commit, to compare with.
benchtelemetry: ## measure what metrics and traces cost a call, in turns (takes a quarter of an hour)
	SEQUENT_LONG=1 SEQUENT_BEFORE="$(BEFORE)" go test -count=1 -v -timeout 40m -run '^TestCost$$' ./internal/e2e/telemetry

# THOUGHT_GRAPH is a folder in which the sources of thought-graph-mcp were built. Without it, it is not measured.
benchweb: ## measure the viewer and others in Chromium, into docs/benchmarks-web.md (needs Node.js)
	cd internal/bench/viewers && npm ci --ignore-scripts --no-audit --no-fund
	SEQUENT_LONG=1 SEQUENT_THOUGHT_GRAPH="$(THOUGHT_GRAPH)" go test -count=1 -v -timeout 40m -run '^TestSpeed$$' ./internal/e2e/web -page $(CURDIR)/docs/benchmarks-web.md

pictures: ## rewrite the pictures and screens of the documentation; pictures of the viewer's pages go to dist/pictures, too
	mkdir -p dist/pictures
	go test -count=1 ./internal/picture ./internal/e2e/docs -run 'Plots|Picture|Screens' -update
	go test -count=1 -run 'View' ./internal/e2e/web -pictures $(CURDIR)/dist/pictures -docs $(CURDIR)/docs/pictures

# Those that Wine 8 carries: it cannot remove files as os.Root and t.TempDir do. No Go toolchain runs under it.
WINE_PACKAGES = . ./words ./brief ./tool ./archive/internal/jsonwalk ./internal/draw ./internal/governor ./internal/jsonscan \
	./internal/printable ./internal/redact ./internal/shellwords ./mcpserver/internal/message

wine: ## tests of packages as Windows programs, under Wine (needs wine and wine64)
	go build -o dist/wine ./internal/wine
	dist/wine -prefix dist/windows
	GOOS=windows GOARCH=amd64 CGO_ENABLED=0 go test -p 1 -vet=off -timeout 10m -skip 'TestMisuseDoesNotCompile' \
		-exec "$(CURDIR)/dist/wine -prefix $(CURDIR)/dist/windows" $(WINE_PACKAGES)

microbench: ## Go benchmarks of functions
	go test -run '^$$' -bench . -benchmem -timeout 60m ./...

parity: ## compare classic with the npm reference server (needs Node.js 20)
	@$(MAKE) --no-print-directory npm
	SEQUENT_REQUIRE=all go test -count=1 -v -run Parity ./internal/e2e/...

# PLUS and MAENIFOLD are folders with the sources of programs that are in no registry, SEEDS
# the one with the seed documents. Tests that need one that is not given are skipped.
oracles: npm ## compare with the original programs, ten times as often as the tests do (needs Node.js 22)
	SEQUENT_ORACLES=whole SEQUENT_PLUS="$(PLUS)" SEQUENT_MAENIFOLD="$(MAENIFOLD)" SEQUENT_SEEDS="$(SEEDS)" \
		go test -count=1 -v -timeout 60m -run 'Parity|TestPackage|TestSeed' ./internal/e2e/parity ./internal/e2e/aisdk ./vault/workflow

npm: ## install the locked packages for tests with Node.js
	@for f in $$(git ls-files 'internal/e2e/*package-lock.json' 'npm/*package-lock.json'); do (cd $$(dirname $$f) && npm ci --no-audit --no-fund) || exit 1; done

size: ## lines of code of each package and in total, without tests, blank lines and comments
	@go run ./internal/size

release: ## build a release into dist/VERSION and prove that it can be used, e.g. VERSION=v0.1.0
	go run ./internal/release -version "$(VERSION)"

vulns: ## known vulnerabilities of dependencies (needs the network)
	go tool -modfile=tools/go.mod govulncheck ./...

.PHONY: help check test adapters lint cross update generate fuzz crash attacks figures postgres bench benchpostgres benchtelemetry benchweb pictures microbench parity oracles npm size wine release vulns
