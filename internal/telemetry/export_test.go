package telemetry

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// environment returns the variables NAME=VALUE, without the prefix OTEL_EXPORTER_OTLP_ or, with a _ in
// front, OTEL.
func environment(variables ...string) func(string) string {
	env := make(map[string]string)
	for _, v := range variables {
		name, value, _ := strings.Cut(v, "=")
		if strings.HasPrefix(name, "_") {
			env["OTEL"+name] = value
		} else {
			env[otlp+name] = value
		}
	}
	return func(name string) string { return env[name] }
}

func TestSettings(t *testing.T) {
	const endpoint = "ENDPOINT=http://c:4318"
	for _, tt := range []struct {
		env  []string
		want string // of traces: URL, timeout, headers; empty for none
		err  string
	}{
		{},
		{env: []string{endpoint}, want: "http://c:4318/v1/traces 10s"},
		{env: []string{"ENDPOINT=https://c/base/", "PROTOCOL=http/protobuf"}, want: "https://c/base/v1/traces 10s"},
		{env: []string{"TRACES_ENDPOINT=http://d:1/x"}, want: "http://d:1/x 10s"},
		{env: []string{endpoint, "TRACES_ENDPOINT=http://d:1/x"}, want: "http://d:1/x 10s"},
		{env: []string{"METRICS_ENDPOINT=http://d:1/x"}},
		{env: []string{endpoint, "TIMEOUT=200", "TRACES_TIMEOUT=300"}, want: "http://c:4318/v1/traces 300ms"},
		{
			env:  []string{endpoint, "HEADERS=Authorization=Basic%20eA==, b = 2,", "TRACES_HEADERS=B=3"},
			want: "http://c:4318/v1/traces 10s Authorization=Basic eA== B=3",
		},
		{env: []string{endpoint, "_TRACES_EXPORTER=none"}},
		{env: []string{endpoint, "_METRICS_EXPORTER=none", "_TRACES_EXPORTER=otlp"}, want: "http://c:4318/v1/traces 10s"},
		{env: []string{endpoint, "_SDK_DISABLED=TRUE"}},
		{env: []string{endpoint, "_TRACES_EXPORTER=zipkin"}, err: "OTEL_TRACES_EXPORTER: use otlp or none"},
		{env: []string{endpoint, "PROTOCOL=grpc"}, err: "use http/json"},
		{env: []string{endpoint, "PROTOCOL=grpc", "TRACES_PROTOCOL=http/json"}, want: "http://c:4318/v1/traces 10s"},
		{env: []string{"ENDPOINT=c:4318"}, err: `invalid value "c:4318" for OTEL_EXPORTER_OTLP_ENDPOINT: use a URL`},
		{env: []string{"ENDPOINT=unix:///x"}, err: "use a URL"},
		{env: []string{endpoint, "TRACES_TIMEOUT=1s"}, err: `invalid value "1s" for OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: use milliseconds`},
		{env: []string{endpoint, "TIMEOUT=0"}, err: "use milliseconds"},
		{env: []string{endpoint, "HEADERS=secret"}, err: "invalid value for OTEL_EXPORTER_OTLP_HEADERS: use NAME=VALUE"},
		{env: []string{endpoint, "HEADERS=a=%zzsecret"}, err: "use NAME=VALUE"},
	} {
		e, err := newExporter("traces", environment(tt.env...), slog.New(slog.DiscardHandler))
		if err != nil {
			if tt.err == "" || !strings.Contains(err.Error(), tt.err) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%q: %v, want %q", tt.env, err, tt.err)
			}
			continue
		}
		got := ""
		if e != nil {
			got = fmt.Sprint(e.url, " ", e.client.Timeout)
			var pairs []string
			for name := range e.headers {
				if name != "User-Agent" && name != "Content-Type" {
					pairs = append(pairs, " "+name+"="+e.headers.Get(name))
				}
			}
			slices.Sort(pairs)
			got += strings.Join(pairs, "")
		}
		if got != tt.want || tt.err != "" {
			t.Errorf("%q: %q, want %q, error %q", tt.env, got, tt.want, tt.err)
		}
	}
}

// A failure is logged once, and so is its end. A message that was taken in part is one.
func TestFailuresAreLoggedOnce(t *testing.T) {
	var reply string
	var status int
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(reply))
	}))
	defer s.Close()
	var log bytes.Buffer
	e, err := newExporter("traces", environment("ENDPOINT="+s.URL), slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		status int
		reply  string
		logged string
	}{
		{400, "why", "level=WARN"}, {503, "", ""}, {200, "errorMessage why", ""}, {200, "", "takes traces again"}, {204, "", ""}, {202, "errorMessage why", "errorMessage why"},
	} {
		status, reply = c.status, c.reply
		log.Reset()
		if e.send(t.Context(), nil); (log.Len() == 0) != (c.logged == "") || !strings.Contains(log.String(), c.logged) {
			t.Errorf("%+v: logged %s", c, &log)
		}
	}
}
