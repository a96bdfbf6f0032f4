package telemetry

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
)

// settings are those of one exporter.
type settings struct {
	url     *url.URL
	headers http.Header
	timeout time.Duration // of one attempt
	gzip    bool
	tls     *tls.Config // nil means the default
}

// variable returns the value of a variable of OTLP, and the name of the one that has it: that of
// the signal, or else the common one.
func variable(signal, name string) (value, full string) {
	const prefix = "OTEL_EXPORTER_OTLP_"
	full = prefix + strings.ToUpper(signal) + "_" + name
	if value = strings.TrimSpace(os.Getenv(full)); value != "" {
		return value, full
	}
	return strings.TrimSpace(os.Getenv(prefix + name)), prefix + name
}

// readSettings reads the settings of a signal, traces or metrics, from the environment.
func readSettings(signal string) (s settings, err error) {
	endpoint, name := variable(signal, "ENDPOINT")
	s.url, err = url.Parse(endpoint)
	if err != nil || s.url.Scheme != "http" && s.url.Scheme != "https" || s.url.Host == "" {
		return s, invalid(endpoint, name, "use a URL such as http://127.0.0.1:4318")
	}
	if strings.HasSuffix(name, "OTLP_ENDPOINT") {
		s.url = s.url.JoinPath("v1", signal)
	}
	s.timeout = 10 * time.Second
	if value, name := variable(signal, "TIMEOUT"); value != "" {
		ms, err := strconv.Atoi(value)
		if err != nil || ms <= 0 {
			return s, invalid(value, name, "use milliseconds, such as 10000")
		}
		s.timeout = time.Duration(ms) * time.Millisecond
	}
	switch value, name := variable(signal, "COMPRESSION"); value {
	case "", "none":
	case "gzip":
		s.gzip = true
	default:
		return s, invalid(value, name, "use gzip or none")
	}
	if s.headers, err = readHeaders(signal); err != nil {
		return s, err
	}
	s.tls, err = readTLS(signal)
	return s, err
}

func invalid(value, name, use string) error {
	return fmt.Errorf("invalid value %q for %s: %s", value, name, use)
}

// readHeaders reads the headers of requests: pairs of a name and a percent-encoded value. Those
// of the signal are added to the common ones. Values can be secret, so errors do not have them.
func readHeaders(signal string) (http.Header, error) {
	h := http.Header{"User-Agent": {"sequent"}}
	for _, name := range []string{"OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_" + strings.ToUpper(signal) + "_HEADERS"} {
		for pair := range strings.SplitSeq(os.Getenv(name), ",") {
			if strings.TrimSpace(pair) == "" {
				continue
			}
			key, value, ok := strings.Cut(pair, "=")
			value, err := url.PathUnescape(strings.TrimSpace(value))
			if key = strings.TrimSpace(key); !ok || err != nil || key == "" {
				return nil, fmt.Errorf("invalid value for %s: use NAME=VALUE, with %%20 for a space, and commas between", name)
			}
			h.Set(key, value)
		}
	}
	return h, nil
}

// readTLS reads the certificates that the collector is checked with, and those that it asks for.
func readTLS(signal string) (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if file, name := variable(signal, "CERTIFICATE"); file != "" {
		pem, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, invalid(file, name, "the file has no certificate in PEM")
		}
	}
	cert, name := variable(signal, "CLIENT_CERTIFICATE")
	key, _ := variable(signal, "CLIENT_KEY")
	if cert != "" || key != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return nil, fmt.Errorf("%s and …_CLIENT_KEY: %w", name, err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

// readTemporality returns how metrics are counted: from the start, which is the default, or
// from one export to the next. Histograms have the buckets that the conventions recommend.
func readTemporality() (sdkmetric.TemporalitySelector, error) {
	const histograms, buckets = "OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION", "explicit_bucket_histogram"
	if value := os.Getenv(histograms); value != "" && value != buckets {
		return nil, invalid(value, histograms, "use "+buckets)
	}
	const name = "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE"
	switch value := os.Getenv(name); strings.ToLower(value) {
	case "", "cumulative":
		return sdkmetric.CumulativeTemporalitySelector, nil
	case "delta":
		return sdkmetric.DeltaTemporalitySelector, nil
	case "lowmemory":
		return sdkmetric.LowMemoryTemporalitySelector, nil
	default:
		return nil, invalid(value, name, "use cumulative, delta or lowmemory")
	}
}
