# Every target works on its own; plain `make` lists them.

FUZZTIME ?= 100000x

# The race detector needs cgo and a C compiler; without them tests run without it. It does not watch inside of SQLite, which
# is C translated to Go, and of which one goroutine at a time uses a connection: tests of stores take half the time.
CC_FOUND := $(shell command -v $$(go env CC) 2>/dev/null)
RACE := $(if $(and $(filter 1,$(shell go env CGO_ENABLED)),$(CC_FOUND)),-race -gcflags=modernc.org/sqlite/lib=-race=false)
# Otherwise each program with the race detector sleeps for a second at its end, as tests start many of.
export GORACE ?= atexit_sleep_ms=10
MODULES = . $(patsubst %/go.mod,%,$(wildcard */go.mod */*/go.mod))
ADAPTERS = $(filter adapters/%,$(MODULES))

help: ## print this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "%-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# The module e2e runs the whole program with others, such as clients and databases. That is left to check, but for what is quick.

test: ## what most changes need, in minutes: every unit test, all transcripts, the main job; without the long tests
	@echo "The first build takes a minute or more."
	@go tool -modfile=tools/go.mod gotestsum --format pkgname --format-hide-empty-pkg --raw-command -- sh -c ' \
		go test -json -short -p 4 -vet=off -timeout 10m ./... && go test -C tools -json -count=1 -vet=off ./archtest && \
		go test -C e2e -json -short -p 4 -vet=off -timeout 10m ./coverage ./example/... ./mainjob ./parity ./web'

check: lint cross tests adapters ## everything, as .ci/run does: lint, cross-compile and every test

# The race detector sees nothing in programs that tests run, and where nothing runs at the same time. Many tests wait, so four
# packages run at a time. Vet is part of lint.
ALONE = $(addprefix %/,brief textsearch internal/article internal/findings internal/gendocs internal/redact dialect/guided vault/wikilink)
PLAIN = $(filter $(ALONE),$(shell go list ./...))
SCRIPTS = '^Test(Postgres)?Script$$'

tests: ## every test, shuffled, with the race detector where there is a C compiler
	@dir=$$(mktemp -d) && trap 'rm -r "$$dir"' EXIT && go build -o "$$dir/" ./cmd/sequent && export SEQUENT_PROGRAM="$$dir/sequent" && \
		echo "tests with the race detector" && \
		go test $(RACE) -p 4 -vet=off -shuffle=on -timeout 20m -skip $(SCRIPTS) $(filter-out $(PLAIN),$(shell go list ./...)) && \
		go test -C e2e $(RACE) -vet=off -shuffle=on -timeout 20m ./example/... ./web && \
		echo "tests without" && \
		go test -vet=off -shuffle=on -timeout 20m -run $(SCRIPTS) ./command && \
		go test -vet=off -shuffle=on -timeout 20m $(PLAIN) && \
		go test -C tools -count=1 -vet=off -shuffle=on -timeout 20m ./... && \
		cd e2e && go test -p 4 -vet=off -shuffle=on -timeout 30m $$(go list ./... | grep -vE '/(web|example/.*)$$')

# Frameworks are large, so they are compiled once, without the race detector.
adapters: ## test the adapters, which are modules of their own
	@for m in $(ADAPTERS); do go test -C $$m -vet=off -shuffle=on -timeout 20m ./... || exit 1; done

lint: ## formatting, vet, staticcheck, modern idioms, tidy modules
	@files=$$(gofmt -l $$(git ls-files '*.go')); [ -z "$$files" ] || { echo "gofmt -w is needed:"; echo "$$files"; exit 1; }
	@for m in $(MODULES); do echo "lint $$m"; (cd $$m && go mod tidy -diff && go vet ./... && \
		go tool -modfile=$(CURDIR)/tools/go.mod staticcheck -checks=all ./... && \
		diff=$$(go fix -diff ./...) && [ -z "$$diff" ] || { echo "$$diff"; echo "go fix ./... is needed"; exit 1; }) || exit 1; done

# The programs for all six systems are linked by e2e/packages, as a release has them.
cross: ## vet for every system, which compiles all that the program has, without cgo
	@for os in darwin windows; do echo "vet $$os"; CGO_ENABLED=0 GOOS=$$os go vet -trimpath ./... || exit 1; done
	GOOS=js GOARCH=wasm go vet -trimpath ./npm/ai-sdk/engine

update: ## rewrite golden files and transcripts; then read the diff
	go test $$(git grep -lE 'flag.Bool\("update"|dialect/dialecttest"$$' -- '*_test.go' ':!e2e' | xargs -n1 dirname | sort -u | sed 's|^|./|') -update
	go test -C e2e ./example/journal $$(cd e2e && git grep -l 'flag.Bool("update"' -- '*_test.go' | xargs -n1 dirname | sort -u | sed 's|^|./|') -update

generate: ## rewrite docs/reference
	go test $$(git grep -lE 'func TestReference(Commands|Dialects|Errors|Providers|Clients|Metrics)\(' -- '*_test.go' | xargs -n1 dirname | sort -u | sed 's|^|./|') -run TestReference -update

fuzz: ## run each fuzz target for FUZZTIME (100000x): with a time, Go can fail at its end
	@git grep -l '^func Fuzz' -- '*_test.go' | xargs -n1 dirname | sort -u | while read -r dir; do \
		for f in $$(grep -hoE '^func Fuzz[A-Za-z0-9_]+' $$dir/*_test.go | cut -d' ' -f2); do \
			echo "== $$f in ./$$dir, $(FUZZTIME)"; \
			go test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 100x ./$$dir || exit 1; \
		done; done

crash: ## long tests of the stores: kill -9 under load, eight processes, locked sessions
	SEQUENT_LONG=1 go test -count=1 -v -timeout 60m ./store/sqlite
	SEQUENT_LONG=1 go test -count=1 -v -timeout 60m -run 'TestStore$$|Locked|Unreachable' ./store/postgres

attacks: ## one client attacks the server, another one is measured; on a quiet machine with Linux
	SEQUENT_LONG=1 go test -C e2e -count=1 -v -timeout 20m ./attacks

figures: ## measure search and sync of a vault with 10,000 notes
	SEQUENT_LONG=1 go test -count=1 -v -run TestFigures -timeout 20m ./vault/index

postgres: ## tests with PostgreSQL, on temporary servers
	SEQUENT_REQUIRE=all go test $(RACE) -count=1 -shuffle=on -timeout 20m ./store/postgres
	SEQUENT_REQUIRE=all go test -C e2e -count=1 -shuffle=on -timeout 20m ./replicas

REFERENCE = e2e/node_modules/@modelcontextprotocol/server-sequential-thinking/dist/index.js
ONE_CORE := $(if $(shell command -v taskset),taskset -c 0)

bench: ## compare with the reference on one core, into docs/benchmarks.md (needs Node.js)
	@[ -f $(REFERENCE) ] || $(MAKE) --no-print-directory npm
	@dir=$$(mktemp -d) && trap 'rm -r "$$dir"' EXIT && \
		CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o "$$dir/" ./cmd/sequent && \
		CGO_ENABLED=0 go build -C e2e -trimpath -o "$$dir/" ./bench && \
		$(ONE_CORE) "$$dir/bench" -sequent "$$dir/sequent" -reference $(REFERENCE) -out docs/benchmarks.md
	go test -C e2e -count=1 ./picture -run Plots -update

benchpostgres: ## measure with PostgreSQL, into docs/benchmarks.md (takes ten minutes)
	SEQUENT_REQUIRE=all go test -C e2e -count=1 -v -timeout 60m -run '^TestPostgres$$' ./bench -page $(CURDIR)/docs/benchmarks.md
	go test -C e2e -count=1 ./picture -run Plots -update

pictures: ## rewrite the pictures and screens of the documentation
	go test -C e2e -count=1 ./picture ./docs -run 'Plots|Picture|Screens' -update
	go test -C e2e -count=1 -run 'View' ./web -docs $(CURDIR)/docs/pictures

# Those that Wine 8 carries: it cannot remove files as os.Root and t.TempDir do. No Go toolchain runs under it.
WINE_PACKAGES = . ./textsearch ./brief ./tool ./internal/draw ./internal/limits ./internal/jsonscan \
	./internal/printable ./internal/redact ./internal/shellwords

wine: ## tests of packages as Windows programs, under Wine (needs wine and wine64)
	go build -C tools -o ../dist/wine ./wine
	dist/wine -prefix dist/windows
	GOOS=windows GOARCH=amd64 CGO_ENABLED=0 go test -p 1 -vet=off -timeout 10m -skip 'TestMisuseDoesNotCompile' \
		-exec "$(CURDIR)/dist/wine -prefix $(CURDIR)/dist/windows" $(WINE_PACKAGES)

microbench: ## Go benchmarks of functions
	go test -run '^$$' -bench . -benchmem -timeout 60m ./...

parity: ## compare classic with the npm reference server (needs Node.js 20)
	@$(MAKE) --no-print-directory npm
	SEQUENT_REQUIRE=all go test -C e2e -count=1 -v -run Parity ./parity

# PLUS and MAENIFOLD are folders with the sources of programs that are in no registry, SEEDS
# the one with the seed documents. Tests that need one that is not given are skipped.
oracles: npm ## compare with the original programs, ten times as often as the tests do (needs Node.js 22)
	SEQUENT_ORACLES=whole SEQUENT_PLUS="$(PLUS)" SEQUENT_MAENIFOLD="$(MAENIFOLD)" SEQUENT_SEEDS="$(SEEDS)" \
		go test -C e2e -count=1 -v -timeout 60m -run 'Parity|TestPackage|TestSeed' ./parity ./aisdk
	SEQUENT_ORACLES=whole SEQUENT_MAENIFOLD="$(MAENIFOLD)" go test -count=1 -v -run Parity ./vault/workflow
	SEQUENT_SEEDS="$(SEEDS)" go test -C e2e -count=1 -v -run TestSeeds ./coverage

ai-sdk: ## build npm/ai-sdk/dist, the tool for the Vercel AI SDK (needs Node.js)
	cd npm/ai-sdk && npm ci --no-audit --no-fund && node build.mjs

npm: ## install the locked packages for tests with Node.js
	@for f in $$(git ls-files 'e2e/*package-lock.json' 'npm/*package-lock.json'); do (cd $$(dirname $$f) && npm ci --no-audit --no-fund) || exit 1; done

size: ## lines of code of each package, in total, and of what is linked, without tests, blank lines and comments
	@go run -C tools ./size

release: ## build a release into dist/VERSION and prove that it can be used, e.g. VERSION=v0.1.0
	go run -C tools ./release -version "$(VERSION)"

vulns: ## known vulnerabilities of dependencies (needs the network)
	go tool -modfile=tools/go.mod govulncheck ./...

.PHONY: help check test tests adapters lint cross update generate fuzz crash attacks figures postgres bench benchpostgres pictures microbench parity oracles ai-sdk npm size wine release vulns
