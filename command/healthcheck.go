package command

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/sequent-dev/sequent"
)

// healthTimeout limits how long a health check waits for the server.
const healthTimeout = 5 * time.Second

// A readiness is the answer of a server that is ready.
type readiness string

func (r readiness) text(pg *page) { pg.say("%s", pg.one(string(r))) }

func runHealth(p *program, ctx context.Context) (result, error) {
	target, client := serverAt(p.address), http.DefaultClient
	switch {
	case len(p.args) > 0:
		target = p.args[0]
	case p.cert != "":
		var err error
		if client, err = clientOf(p.cert); err != nil {
			return nil, invalid("tls-cert", p.cert, "a file with a certificate in PEM: "+err.Error())
		}
		target = "https" + strings.TrimPrefix(target, "http")
	}
	answer, err := askReady(ctx, client, target)
	return readiness(answer), err
}

// clientOf returns a client of the server that has the certificate in a file, under any name.
func clientOf(file string) (*http.Client, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errors.New("it has none")
	}
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{
		InsecureSkipVerify: true, // VerifyConnection compares the certificate, which has no name of this machine
		VerifyConnection: func(state tls.ConnectionState) error {
			if !bytes.Equal(state.PeerCertificates[0].Raw, block.Bytes) {
				return errors.New("the server has another certificate than " + file)
			}
			return nil
		},
	}}}, nil
}

// serverAt returns the URL of the server on this machine that listens at addr.
func serverAt(addr string) string {
	if _, err := strconv.ParseUint(addr, 10, 16); err == nil {
		addr = ":" + addr
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "http://" + addr
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// askReady returns the answer of a server that is ready, at most 4 KiB of it.
func askReady(ctx context.Context, client *http.Client, target string) (string, error) {
	u, err := url.Parse(target)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", &usageError{msg: fmt.Sprintf("%q is not the URL of a server", target), fix: "use a URL such as http://127.0.0.1:8080"}
	}
	u.Path, u.RawQuery, u.Fragment = strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/mcp")+"/readyz", "", ""
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return "", err
	}
	unready := func(err error) error {
		return &sequent.Error{
			Code: sequent.CodeUnavailable, Msg: "the server at " + u.Host + " is not ready",
			Fix: "read its log; sequent doctor checks its store", Err: err,
		}
	}
	res, err := client.Do(req)
	if err != nil {
		return "", unready(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, 4<<10))
	if err != nil {
		return "", unready(err)
	}
	answer := strings.TrimSpace(string(body))
	if res.StatusCode != http.StatusOK {
		return "", unready(errors.New(res.Status + " " + answer))
	}
	return answer, nil
}
