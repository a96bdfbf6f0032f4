//go:build unix

package pgtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// citusVariable is the environment variable with the directory of cluster.sh, which
// starts and stops a Citus cluster: "cluster.sh start DIR PORT" prints the address of a
// coordinator at PORT, with workers at the next two ports. Tests of a cluster are skipped
// without it.
const citusVariable = "SEQUENT_CITUS"

// A Citus is a cluster of a coordinator and two workers. The zero Citus starts on first
// use. The caller must Stop it, in TestMain if several tests share it.
type Citus struct {
	// Durable leaves fsync on, so that commits survive a loss of power. Only benchmarks
	// need it.
	Durable bool

	mu       sync.Mutex
	dir      string
	port     int      // of the coordinator
	address  *url.URL // of the coordinator
	watchdog *exec.Cmd
	schemas  atomic.Int64
}

// citusTime limits how long a start or a stop may take.
const citusTime = 2 * time.Minute

// start starts the cluster, or skips the test if there is none on this machine.
func (c *Citus) start(t testing.TB) {
	t.Helper()
	if os.Getenv(citusVariable) == "" {
		t.Skipf("%s is not set", citusVariable)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.address != nil {
		return
	}
	var err error
	if c.dir, err = os.MkdirTemp("", "citus"); err == nil {
		err = os.Chmod(c.dir, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	c.port = freePorts(t, 3)
	c.watchdog = watchdog(`bash "$0" stop "$1"; rm -rf "$1"`, c.program(), c.dir)
	if _, err := c.watchdog.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := c.watchdog.Start(); err != nil {
		t.Fatal(err)
	}
	out, err := c.script("start", c.dir, strconv.Itoa(c.port))
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if err == nil {
		c.address, err = url.Parse(lines[len(lines)-1])
	}
	if err != nil {
		t.Fatalf("starting a Citus cluster: %v\n%s", err, out)
	}
	for n := range 3 { // commits survive a kill of a server without fsync
		server := *c.address
		server.Host, server.RawQuery = net.JoinHostPort("127.0.0.1", strconv.Itoa(c.port+n)), "sslmode=disable"
		value(t, server.String(), fmt.Sprintf("ALTER SYSTEM SET fsync = %t", c.Durable))
		value(t, server.String(), "SELECT pg_reload_conf()::text")
	}
}

func (c *Citus) program() string { return filepath.Join(os.Getenv(citusVariable), "cluster.sh") }

func (c *Citus) script(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), citusTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", append([]string{c.program()}, args...)...)
	cmd.WaitDelay = time.Second // the servers keep standard error open
	out, err := cmd.Output()
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		return string(out) + string(e.Stderr), err
	}
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil
	}
	return string(out), err
}

// freePorts returns the first of n free TCP ports in a row, below those that the kernel
// gives to clients. Processes search in places of their own.
func freePorts(t testing.TB, n int) int {
	t.Helper()
	for first := 20000 + os.Getpid()%1000*10; first < 32000; first += 10 {
		free := true
		for port := first; port < first+n && free; port++ {
			l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
			if free = err == nil; free {
				free = l.Close() == nil
			}
		}
		if free {
			return first
		}
	}
	t.Fatal("no free ports")
	return 0
}

// url returns the address of the coordinator with these parameters.
func (c *Citus) url(parameters url.Values) string {
	u := *c.address
	parameters.Set("sslmode", "disable")
	u.RawQuery = parameters.Encode()
	return u.String()
}

// Schema creates a schema for the caller alone and returns the URL of a store with four
// shards in it. It starts the cluster if necessary.
func (c *Citus) Schema(t testing.TB) string {
	t.Helper()
	c.start(t)
	name := fmt.Sprintf("test%d", c.schemas.Add(1))
	value(t, c.url(url.Values{"citus.enable_schema_based_sharding": {"off"}}), "CREATE SCHEMA "+name)
	return c.url(url.Values{"search_path": {name}, "distributed": {"1"}, "citus.shard_count": {"4"}})
}

// Move makes Citus move the largest shard of a store, with its URL, to the other worker while
// it is in use, and returns the port of the worker that has it now.
func (c *Citus) Move(t testing.TB, store string) (port int) {
	t.Helper()
	u, err := url.Parse(store)
	if err != nil {
		t.Fatal(err)
	}
	at := c.url(url.Values{})
	placed := value(t, at, "SELECT shardid || ' ' || nodeport FROM citus_shards WHERE table_name = $1::text::regclass ORDER BY shard_size DESC, shardid LIMIT 1",
		u.Query().Get("search_path")+".tool_log")
	var shard, from int
	if _, err := fmt.Sscan(placed, &shard, &from); err != nil {
		t.Fatalf("%q: %v", placed, err)
	}
	port = 2*c.port + 3 - from
	value(t, at, "SELECT citus_move_shard_placement($1::bigint, '127.0.0.1', $2, '127.0.0.1', $3, 'force_logical')::text", shard, from, port)
	return port
}

// RestartWorker ends all processes of the worker at a port at once, as a loss of power does, and
// starts it again.
func (c *Citus) RestartWorker(t testing.TB, port int) {
	t.Helper()
	s := Server{bin: "/usr/lib/postgresql/15/bin", dir: c.dir} // the version that cluster.sh uses
	if os.Getuid() == 0 {
		var err error
		if s.user, err = unprivileged(); err != nil {
			t.Fatal(err)
		}
	}
	data := filepath.Join(c.dir, fmt.Sprintf("n%d", port-c.port))
	if err := s.run("pg_ctl", "-D", data, "-w", "-m", "immediate", "-l", filepath.Join(c.dir, "restarted"), "restart"); err != nil {
		t.Fatal(err)
	}
}

// Stop stops the cluster, if it is running, and removes its directory.
func (c *Citus) Stop() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.watchdog == nil {
		return nil
	}
	_, err := c.script("stop", c.dir)
	err = errors.Join(err, os.RemoveAll(c.dir), c.watchdog.Process.Kill())
	_ = c.watchdog.Wait() // always "signal: killed"
	c.dir, c.address, c.watchdog = "", nil, nil
	return err
}
