package telemetry

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
)

// setenv sets variables NAME=VALUE, without the prefix OTEL_EXPORTER_OTLP_.
func setenv(t *testing.T, variables ...string) {
	quiet(t)
	for _, v := range variables {
		name, value, _ := strings.Cut(v, "=")
		t.Setenv(otlp+name, value)
	}
}

func TestSettings(t *testing.T) {
	const endpoint = "ENDPOINT=http://c:4318"
	for _, tt := range []struct {
		env  []string
		want string // of traces: URL, timeout, gzip, temporality of histograms, headers
		err  string
	}{
		{env: []string{endpoint}, want: "http://c:4318/v1/traces 10s false Cumulative "},
		{env: []string{"ENDPOINT=https://c/base/"}, want: "https://c/base/v1/traces 10s false Cumulative "},
		{env: []string{endpoint, "TRACES_ENDPOINT=http://d:1/x"}, want: "http://d:1/x 10s false Cumulative "},
		{env: []string{endpoint, "METRICS_ENDPOINT=http://d:1/x"}, want: "http://c:4318/v1/traces 10s false Cumulative "},
		{env: []string{endpoint, "TIMEOUT=200", "TRACES_TIMEOUT=300", "COMPRESSION=gzip"}, want: "http://c:4318/v1/traces 300ms true Cumulative "},
		{env: []string{endpoint, "COMPRESSION=gzip", "TRACES_COMPRESSION=none"}, want: "http://c:4318/v1/traces 10s false Cumulative "},
		{
			env:  []string{endpoint, "HEADERS=Authorization=Basic%20eA==, b = 2,", "TRACES_HEADERS=B=3"},
			want: "http://c:4318/v1/traces 10s false Cumulative Authorization=Basic eA== B=3",
		},
		{env: []string{endpoint, "METRICS_TEMPORALITY_PREFERENCE=Delta"}, want: "http://c:4318/v1/traces 10s false Delta "},
		{env: []string{endpoint, "METRICS_TEMPORALITY_PREFERENCE=lowmemory"}, want: "http://c:4318/v1/traces 10s false Delta "},
		{env: []string{endpoint, "METRICS_TEMPORALITY_PREFERENCE=other"}, err: "use cumulative, delta or lowmemory"},
		{env: []string{"ENDPOINT=c:4318"}, err: `invalid value "c:4318" for OTEL_EXPORTER_OTLP_ENDPOINT: use a URL`},
		{env: []string{"ENDPOINT=unix:///x"}, err: "use a URL"},
		{env: []string{endpoint, "TRACES_TIMEOUT=1s"}, err: `invalid value "1s" for OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: use milliseconds`},
		{env: []string{endpoint, "TIMEOUT=0"}, err: "use milliseconds"},
		{env: []string{endpoint, "HEADERS=secret"}, err: "invalid value for OTEL_EXPORTER_OTLP_HEADERS: use NAME=VALUE"},
		{env: []string{endpoint, "HEADERS=a=%zzsecret"}, err: "use NAME=VALUE"},
	} {
		setenv(t, tt.env...)
		e, err := newExporter("traces", slog.New(slog.DiscardHandler))
		if err != nil {
			if tt.err == "" || !strings.Contains(err.Error(), tt.err) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%q: %v, want %q", tt.env, err, tt.err)
			}
			continue
		}
		var pairs []string
		for name := range e.headers {
			if name != "User-Agent" && !strings.HasPrefix(name, "Content-") {
				pairs = append(pairs, name+"="+e.headers.Get(name))
			}
		}
		slices.Sort(pairs)
		kind := strings.TrimSuffix(e.temporality(sdkmetric.InstrumentKindHistogram).String(), "Temporality")
		got := fmt.Sprintln(e.url, e.client.Timeout, e.gzip, kind, strings.Join(pairs, " "))
		if got != tt.want+"\n" || tt.err != "" {
			t.Errorf("%q: %q, want %q, error %q", tt.env, got, tt.want, tt.err)
		}
	}
}

// inProcess answers requests in this process, so that synctest sees the waits.
type inProcess func(http.ResponseWriter, *http.Request)

func (f inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	rec := httptest.NewRecorder()
	f(rec, r)
	return rec.Result(), r.Context().Err()
}

func TestRetry(t *testing.T) {
	const limit = 30 * time.Second // of the SDK for one export
	for _, tt := range []struct {
		name     string
		statuses []int // the last one goes on
		after    string
		attempts int
		took     time.Duration
		err      string
	}{
		{"taken", []int{200}, "", 1, 0, ""},
		{"taken without a reply", []int{204}, "", 1, 0, ""},
		{"refused", []int{400}, "", 1, 0, `400 Bad Request: "errorMessage why"`},
		{"broken", []int{500}, "", 1, 0, "500"},
		{"taken in part", []int{202}, "", 1, 0, "errorMessage why"},
		{"busy", []int{503, 502, 504, 200}, "", 4, 7 * firstWait, ""},
		{"busy, with a time", []int{429, 200}, "20", 2, 20 * time.Second, ""},
		{"busy for longer than it may take", []int{503}, "61", 1, limit, "503"},
		{"busy without end", []int{503}, "", 5, limit, "503"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			setenv(t, "ENDPOINT=http://c:4318", "COMPRESSION=gzip")
			synctest.Test(t, func(t *testing.T) {
				e, err := newExporter("traces", slog.New(slog.DiscardHandler))
				if err != nil {
					t.Fatal(err)
				}
				attempts := 0
				e.client.Transport = inProcess(func(w http.ResponseWriter, r *http.Request) {
					z, err := gzip.NewReader(r.Body)
					if err != nil {
						t.Fatal(err)
					}
					if body, err := io.ReadAll(z); string(body) != `{"a":1}` || err != nil || r.Header.Get("Content-Encoding") != "gzip" {
						t.Errorf("%s: %q, %v", r.URL, body, err)
					}
					w.Header().Set("Retry-After", tt.after)
					status := tt.statuses[min(attempts, len(tt.statuses)-1)]
					w.WriteHeader(status)
					if status != 200 && status != 204 {
						_, _ = io.WriteString(w, "errorMessage why")
					}
					attempts++
				})
				ctx, cancel := context.WithTimeout(t.Context(), limit)
				defer cancel()
				begin := time.Now()
				err = e.retry(ctx, object{"a": 1})
				if took := time.Since(begin); attempts != tt.attempts || took != tt.took {
					t.Errorf("%d attempts in %v, want %d in %v", attempts, took, tt.attempts, tt.took)
				}
				if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
					t.Errorf("error %v, want %q", err, tt.err)
				}
			})
		})
	}
}

// A failure is logged once, and so is its end.
func TestFailuresAreLoggedOnce(t *testing.T) {
	setenv(t, "ENDPOINT=http://c:4318")
	var log bytes.Buffer
	e, err := newExporter("traces", slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	status := http.StatusBadRequest
	e.client.Transport = inProcess(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
	e.send(t.Context(), nil)
	e.send(t.Context(), nil)
	status = http.StatusOK
	e.send(t.Context(), nil)
	e.send(t.Context(), nil)
	if strings.Count(log.String(), "level=WARN") != 1 || strings.Count(log.String(), "takes traces again") != 1 || strings.Count(log.String(), "\n") != 2 {
		t.Errorf("logged:\n%s", log.String())
	}
}
