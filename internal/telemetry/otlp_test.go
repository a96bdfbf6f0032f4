package telemetry

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// setenv sets variables NAME=VALUE, without the prefix OTEL_EXPORTER_OTLP_.
func setenv(t *testing.T, variables ...string) {
	quiet(t)
	for _, v := range variables {
		name, value, _ := strings.Cut(v, "=")
		t.Setenv("OTEL_EXPORTER_OTLP_"+name, value)
	}
}

func TestSettings(t *testing.T) {
	const endpoint = "ENDPOINT=http://c:4318"
	for _, tt := range []struct {
		env  []string
		want string // of traces: URL, timeout, gzip, headers
		err  string
	}{
		{env: []string{endpoint}, want: "http://c:4318/v1/traces 10s false "},
		{env: []string{"ENDPOINT=https://c/base/"}, want: "https://c/base/v1/traces 10s false "},
		{env: []string{endpoint, "TRACES_ENDPOINT=http://d:1/x"}, want: "http://d:1/x 10s false "},
		{env: []string{"TRACES_ENDPOINT=http://d:1"}, want: "http://d:1 10s false "},
		{env: []string{endpoint, "METRICS_ENDPOINT=http://d:1/x"}, want: "http://c:4318/v1/traces 10s false "},
		{env: []string{endpoint, "TIMEOUT=200", "COMPRESSION=gzip"}, want: "http://c:4318/v1/traces 200ms true "},
		{env: []string{endpoint, "TIMEOUT=200", "TRACES_TIMEOUT=300", "COMPRESSION=gzip", "TRACES_COMPRESSION=none"}, want: "http://c:4318/v1/traces 300ms false "},
		{env: []string{endpoint, "HEADERS=Authorization=Basic%20eA==, b = 2,", "TRACES_HEADERS=B=3"}, want: "http://c:4318/v1/traces 10s false Authorization=Basic eA== B=3"},
		{env: []string{"ENDPOINT=c:4318"}, err: `invalid value "c:4318" for OTEL_EXPORTER_OTLP_ENDPOINT: use a URL`},
		{env: []string{"ENDPOINT=unix:///x"}, err: "use a URL"},
		{env: []string{endpoint, "TRACES_TIMEOUT=1s"}, err: `invalid value "1s" for OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: use milliseconds`},
		{env: []string{endpoint, "TIMEOUT=0"}, err: "use milliseconds"},
		{env: []string{endpoint, "COMPRESSION=zstd"}, err: "use gzip or none"},
		{env: []string{endpoint, "HEADERS=secret"}, err: "invalid value for OTEL_EXPORTER_OTLP_HEADERS: use NAME=VALUE"},
		{env: []string{endpoint, "HEADERS=a=%zzsecret"}, err: "use NAME=VALUE"},
		{env: []string{endpoint, "CERTIFICATE=/nowhere/x.pem"}, err: "OTEL_EXPORTER_OTLP_CERTIFICATE: open"},
		{env: []string{endpoint, "CERTIFICATE=otlp_test.go"}, err: "no certificate in PEM"},
		{env: []string{endpoint, "CLIENT_CERTIFICATE=/nowhere/x.pem"}, err: "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE and"},
	} {
		setenv(t, tt.env...)
		s, err := newSender("traces", slog.New(slog.DiscardHandler))
		if err != nil {
			if tt.err == "" || !strings.Contains(err.Error(), tt.err) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%q: %v, want %q", tt.env, err, tt.err)
			}
			continue
		}
		headers := s.headers.Clone()
		headers.Del("User-Agent")
		var pairs []string
		for name := range headers {
			pairs = append(pairs, name+"="+headers.Get(name))
		}
		slices.Sort(pairs)
		got := fmt.Sprintln(s.url, s.timeout, s.gzip, strings.Join(pairs, " "))
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
	for _, tt := range []struct {
		name     string
		statuses []int // the last one goes on
		after    string
		attempts int
		min, max time.Duration
		err      string
	}{
		{"taken", []int{200}, "", 1, 0, 0, ""},
		{"taken without content", []int{204}, "", 1, 0, 0, ""},
		{"refused", []int{400}, "", 1, 0, 0, `400 Bad Request: "why"`},
		{"broken", []int{500}, "", 1, 0, 0, "500"},
		{"busy", []int{503, 502, 504, 200}, "", 4, 2 * firstWait, 8 * firstWait, ""},
		{"busy, with a time", []int{429, 200}, "20", 2, 20 * time.Second, 20 * time.Second, ""},
		{"busy, with a date", []int{503, 200}, "Sat, 01 Jan 2000 00:00:30 GMT", 2, 30 * time.Second, 30 * time.Second, ""},
		{"busy for longer than it may take", []int{503}, "61", 1, 0, 0, "503"},
		{"busy without end", []int{503}, "", 6, 0, maxSend, "503"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			setenv(t, "ENDPOINT=http://c:4318", "COMPRESSION=gzip")
			synctest.Test(t, func(t *testing.T) { // begins at midnight of 2000-01-01
				s, err := newSender("traces", slog.New(slog.DiscardHandler))
				if err != nil {
					t.Fatal(err)
				}
				attempts := 0
				s.client.Transport = inProcess(func(w http.ResponseWriter, r *http.Request) {
					z, err := gzip.NewReader(r.Body)
					if err != nil {
						t.Fatal(err)
					}
					if body, err := io.ReadAll(z); string(body) != "a message" || err != nil || r.Header.Get("Content-Encoding") != "gzip" || r.URL.Path != "/v1/traces" {
						t.Errorf("%s: %q, %v", r.URL, body, err)
					}
					if tt.after != "" {
						w.Header().Set("Retry-After", tt.after)
					}
					w.WriteHeader(tt.statuses[min(attempts, len(tt.statuses)-1)])
					_, _ = io.WriteString(w, "why")
					attempts++
				})
				begin := time.Now()
				err = s.retry(t.Context(), []byte("a message"))
				took := time.Since(begin)
				if attempts > tt.attempts || attempts < min(tt.attempts, 3) || took < tt.min || took > tt.max {
					t.Errorf("%d attempts in %v, want %d in %v to %v", attempts, took, tt.attempts, tt.min, tt.max)
				}
				if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
					t.Errorf("error %v, want %q", err, tt.err)
				}
			})
		})
	}
}

// A context that ends stops the wait for the next attempt, and a failure is logged once.
func TestSendStops(t *testing.T) {
	setenv(t, "ENDPOINT=http://c:4318")
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		s, err := newSender("traces", slog.New(slog.NewTextHandler(&log, nil)))
		if err != nil {
			t.Fatal(err)
		}
		status := http.StatusServiceUnavailable
		s.client.Transport = inProcess(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
		for range 2 {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Second, cancel)
			begin := time.Now()
			s.send(ctx, nil)
			if took := time.Since(begin); took != time.Second {
				t.Errorf("it took %v", took)
			}
		}
		status = http.StatusOK
		s.send(t.Context(), nil)
		s.send(t.Context(), nil)
		s.close()
		if strings.Count(log.String(), "level=WARN") != 1 || strings.Count(log.String(), "takes traces again") != 1 || strings.Count(log.String(), "\n") != 2 {
			t.Errorf("logged:\n%s", log.String())
		}
	})
}

// What a collector says of a message that it refuses, or takes in part, is in the error.
func TestReplies(t *testing.T) {
	setenv(t, "ENDPOINT=http://c:4318")
	partial, _ := proto.Marshal(&metricspb.Metric{Name: "\x08\x03\x12\x04why?"}) // field 1, as of the response
	status, _ := proto.Marshal(&tracepb.Status{Message: "why?"})                 // field 2, as of google.rpc.Status
	for _, tt := range []struct {
		status int
		reply  []byte
		want   string
	}{
		{200, nil, ""},
		{200, partial, `refused 3: "why?"`},
		{200, partial[:len(partial)-2], ""}, // cut off
		{400, status, `400 Bad Request: "why?"`},
		{400, bytes.Repeat([]byte("\xff"), maxReply+1), "400"},
	} {
		s, err := newSender("metrics", slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		s.client.Transport = inProcess(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/x-protobuf")
			w.WriteHeader(tt.status)
			_, _ = w.Write(tt.reply)
		})
		err = s.post(t.Context(), nil)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%d %.20q: %v, want %q", tt.status, tt.reply, err, tt.want)
		}
	}
}

// A collector with a certificate of its own, which asks for one of the client.
func TestCertificates(t *testing.T) {
	dir := t.TempDir()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "client"}, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, kind string, der []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	client := "CLIENT_CERTIFICATE=" + write("client.pem", "CERTIFICATE", der)
	clientKey := "CLIENT_KEY=" + write("client.key", "PRIVATE KEY", private)

	server := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if len(r.TLS.PeerCertificates) != 1 || r.TLS.PeerCertificates[0].Subject.CommonName != "client" {
			t.Errorf("certificates of the client: %v", r.TLS.PeerCertificates)
		}
	}))
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	server.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
	server.StartTLS()
	defer server.Close()
	ca := "CERTIFICATE=" + write("ca.pem", "CERTIFICATE", server.Certificate().Raw)

	for _, tt := range []struct {
		env  []string
		want string
	}{
		{[]string{ca, client, clientKey}, ""},
		{[]string{"METRICS_" + ca, "METRICS_" + client, "METRICS_" + clientKey}, ""},
		{[]string{"TRACES_" + ca, client, clientKey}, "certificate"},
		{[]string{ca}, "certificate required"},
	} {
		t.Run("", func(t *testing.T) {
			setenv(t, append(tt.env, "ENDPOINT="+server.URL)...)
			s, err := newSender("metrics", slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			defer s.close()
			err = s.post(t.Context(), nil)
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}
