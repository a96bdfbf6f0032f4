package telemetry

import (
	"fmt"
	"strings"
)

// FromEnvironment returns which exporters of OTLP the environment turns on: those with an
// endpoint, unless OTEL_SDK_DISABLED is true or OTEL_TRACES_EXPORTER or OTEL_METRICS_EXPORTER
// is none. The error is for a setting that this program does not support; it says what to set
// instead. The SDK reads the other variables itself.
func FromEnvironment(getenv func(string) string) (traces, metrics bool, err error) {
	if strings.EqualFold(getenv("OTEL_SDK_DISABLED"), "true") {
		return false, false, nil
	}
	if traces, err = signal(getenv, "TRACES"); err == nil {
		metrics, err = signal(getenv, "METRICS")
	}
	return traces, metrics, err
}

// signal reports whether one signal is exported.
func signal(getenv func(string) string, name string) (bool, error) {
	const otlp = "OTEL_EXPORTER_OTLP_"
	own := otlp + name + "_"
	if getenv(otlp+"ENDPOINT") == "" && getenv(own+"ENDPOINT") == "" {
		return false, nil
	}
	switch exporter := "OTEL_" + name + "_EXPORTER"; getenv(exporter) {
	case "", "otlp":
	case "none":
		return false, nil
	default:
		return false, fmt.Errorf("invalid value %q for %s: use otlp or none; --metrics is for Prometheus", getenv(exporter), exporter)
	}
	for _, protocol := range []string{own + "PROTOCOL", otlp + "PROTOCOL"} {
		switch getenv(protocol) {
		case "", "http/protobuf":
		default:
			return false, fmt.Errorf("invalid value %q for %s: use http/protobuf, which collectors accept on port 4318", getenv(protocol), protocol)
		}
		if getenv(protocol) != "" {
			break
		}
	}
	return true, nil
}
