package app

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// certificateInterval is the minimum time between two looks at the files of a certificate.
const certificateInterval = time.Second

// A certificate is that of the files, which are read again, as they change with a
// renewal. While they cannot be used, the last one that could is.
type certificate struct {
	cert, key string // files
	logger    *slog.Logger

	mu      sync.Mutex
	current *tls.Certificate
	looked  time.Time
	failing bool
}

// certificates returns the configuration of TLS; nil for plain HTTP.
func (c HTTPConfig) certificates(logger *slog.Logger) (*tls.Config, error) {
	if c.TLSCert == "" && c.TLSKey == "" {
		return nil, nil
	}
	if c.TLSCert == "" || c.TLSKey == "" {
		return nil, usage("--tls-cert and --tls-key belong together", "pass both files")
	}
	own := &certificate{logger: logger}
	var err error
	if own.cert, err = expand(c.TLSCert); err == nil {
		own.key, err = expand(c.TLSKey)
	}
	if err == nil {
		err = own.load()
	}
	if err != nil {
		return nil, usage(fmt.Sprintf("the certificate cannot be used: %v", err),
			"pass a certificate chain in PEM with --tls-cert, and its key with --tls-key")
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: own.get}, nil
}

func (c *certificate) load() error {
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err == nil {
		c.current = &pair
	}
	return err
}

// get is called for each connection.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if now.Sub(c.looked) < certificateInterval {
		return c.current, nil
	}
	c.looked = now
	err := c.load()
	if err != nil && !c.failing {
		c.logger.Error("cannot reload the certificate; the previous one stays in use", "error", err)
	}
	c.failing = err != nil
	return c.current, nil
}
