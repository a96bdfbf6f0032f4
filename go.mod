module github.com/sequent-dev/sequent

go 1.26.0

require (
	charm.land/bubbletea/v2 v2.0.9 // the screen of follow and think
	charm.land/lipgloss/v2 v2.0.6 // colours, also on Windows
	github.com/charmbracelet/x/term v0.2.2 // whether a stream is a terminal, and its size
	github.com/clipperhouse/displaywidth v0.11.0 // columns of a text
	github.com/coder/websocket v1.8.15 // MCP over WebSocket
	github.com/coreos/go-oidc/v3 v3.21.0 // discovery, keys and tokens of identity providers
	github.com/go-jose/go-jose/v4 v4.1.4 // the header of a token, before its issuer is asked for keys
	github.com/google/jsonschema-go v0.4.3 // for tests: replies against their schemas
	github.com/jackc/pgx/v5 v5.12.0 // PostgreSQL
	github.com/modelcontextprotocol/go-sdk v1.8.0 // the client; the server is ours (decision 0030)
	github.com/pelletier/go-toml/v2 v2.4.3 // the configuration of Codex, and rules of masking when they are generated
	github.com/prometheus/client_golang v1.24.1 // the page for Prometheus
	github.com/rogpeppe/go-internal v1.16.0 // for tests: scripts of commands, and txtar
	github.com/spf13/cobra v1.10.2 // the command line
	github.com/spf13/pflag v1.0.9 // flags of cobra
	github.com/tailscale/hujson v0.0.0-20260727124030-b80ff77dac4f // changes JSON with comments and keeps these
	github.com/yuin/goldmark v1.8.7 // Markdown of thoughts for the viewer
	go.opentelemetry.io/contrib/instrumentation/runtime v0.71.0 // metrics of the Go runtime
	go.opentelemetry.io/otel v1.46.0 // not 1.47 yet: with it, Google ADK 2.2 does not compile (otel/log)
	go.opentelemetry.io/otel/exporters/prometheus v0.68.0 // metrics as Prometheus reads them
	go.opentelemetry.io/otel/metric v1.46.0 // metrics, as interfaces
	go.opentelemetry.io/otel/sdk v1.46.0 // the resource, batches of spans
	go.opentelemetry.io/otel/sdk/metric v1.46.0 // readers of metrics
	go.opentelemetry.io/otel/trace v1.46.0 // spans, as interfaces
	go.yaml.in/yaml/v3 v3.0.6 // front matter of notes, workflows, editors' configurations in YAML
	golang.org/x/oauth2 v0.37.0 // the code flow of signing in
	golang.org/x/sys v0.49.0 // inotify, flock and the like
	golang.org/x/text v0.43.0 // normal forms and folding of Unicode
	golang.org/x/time v0.15.0 // rate limits
	modernc.org/sqlite v1.60.1 // SQLite without cgo
)

require (
	github.com/beorn7/perks v1.0.1 // indirect
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/charmbracelet/colorprofile v0.4.3 // indirect
	github.com/charmbracelet/ultraviolet v0.0.0-20260811164956-006e29f97886 // indirect
	github.com/charmbracelet/x/ansi v0.11.8 // indirect
	github.com/charmbracelet/x/termios v0.1.1 // indirect
	github.com/charmbracelet/x/windows v0.2.2 // indirect
	github.com/clipperhouse/uax29/v2 v2.7.0 // indirect
	github.com/dustin/go-humanize v1.0.1 // indirect
	github.com/go-logr/logr v1.4.4 // indirect
	github.com/go-logr/stdr v1.2.2 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/jackc/pgpassfile v1.0.0 // indirect
	github.com/jackc/pgservicefile v0.0.0-20240606120523-5a60cdf6a761 // indirect
	github.com/jackc/puddle/v2 v2.2.3 // indirect
	github.com/lucasb-eyer/go-colorful v1.4.1 // indirect
	github.com/mattn/go-isatty v0.0.24 // indirect
	github.com/mattn/go-runewidth v0.0.24 // indirect
	github.com/muesli/cancelreader v0.2.2 // indirect
	github.com/munnerz/goautoneg v0.0.0-20191010083416-a7dc8b61c822 // indirect
	github.com/ncruces/go-strftime v1.0.0 // indirect
	github.com/prometheus/client_model v0.6.3 // indirect
	github.com/prometheus/common v0.72.0 // indirect
	github.com/prometheus/otlptranslator v1.0.0 // indirect
	github.com/prometheus/procfs v0.22.0 // indirect
	github.com/remyoudompheng/bigfft v0.0.0-20230129092748-24d4a6f8daec // indirect
	github.com/rivo/uniseg v0.4.7 // indirect
	github.com/segmentio/asm v1.1.3 // indirect
	github.com/segmentio/encoding v0.5.4 // indirect
	github.com/xo/terminfo v0.0.0-20220910002029-abceb7e1c41e // indirect
	github.com/yosida95/uritemplate/v3 v3.0.2 // indirect
	go.opentelemetry.io/auto/sdk v1.2.1 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/tools v0.52.0 // indirect
	google.golang.org/protobuf v1.36.12 // indirect
	modernc.org/libc v1.77.1 // indirect
	modernc.org/mathutil v1.7.1 // indirect
	modernc.org/memory v1.12.1 // indirect
)
