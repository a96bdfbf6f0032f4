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
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// CitusVariable is the environment variable with the directory of cluster.sh, which
// starts and stops a Citus cluster: "cluster.sh start DIR PORT" prints the address of a
// coordinator at PORT, with workers at the next two ports. Tests of a cluster are skipped
// without it.
const CitusVariable = "SEQUENT_CITUS"

// A Citus is a cluster of a coordinator and two workers. The zero Citus starts on first
// use. The caller must Stop it, in TestMain if several tests share it.
type Citus struct {
	// Durable leaves fsync on, so that commits survive a loss of power. Only benchmarks
	// need it.
	Durable bool

	mu       sync.Mutex
	dir      string
	port     int    // of the coordinator
	address  string // of the coordinator
	watchdog *exec.Cmd
	schemas  atomic.Int64
}

// citusTime limits how long a start, a stop or a statement may take.
const citusTime = 2 * time.Minute

// HasCitus reports whether there is a cluster for tests.
func HasCitus() bool { return os.Getenv(CitusVariable) != "" }

// start starts the cluster, or skips the test if there is none on this machine.
func (c *Citus) start(t testing.TB) {
	t.Helper()
	if !HasCitus() {
		t.Skipf("%s is not set", CitusVariable)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.address != "" {
		return
	}
	var err error
	// Another process may take a port before the cluster does.
	for range 3 {
		if err = c.tryStart(); err == nil {
			return
		}
		err = errors.Join(err, c.stop())
	}
	t.Fatalf("starting a Citus cluster: %v", err)
}

func (c *Citus) tryStart() (err error) {
	if c.dir, err = os.MkdirTemp("", "citus"); err != nil {
		return err
	}
	if err := os.Chmod(c.dir, 0o755); err != nil {
		return err
	}
	if c.port, err = freePorts(3); err != nil {
		return err
	}
	out, err := c.script("start", c.dir, strconv.Itoa(c.port))
	if err != nil {
		logs, _ := filepath.Glob(filepath.Join(c.dir, "log*"))
		for _, name := range logs {
			log, _ := os.ReadFile(name)
			out += fmt.Sprintf("\n%s: %.2000s", name, log)
		}
		return fmt.Errorf("%w\n%s", err, out)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	c.address = lines[len(lines)-1]
	for port := c.port; port < c.port+3; port++ {
		if err := c.configure(port); err != nil {
			return err
		}
	}
	c.watchdog = exec.Command("sh", "-c", `read -r _; bash "$0" stop "$1"; rm -rf "$1"`, c.program(), c.dir)
	c.watchdog.Dir = "/"
	c.watchdog.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // so that it survives a signal to this process's group
	if _, err := c.watchdog.StdinPipe(); err != nil {
		return err
	}
	return c.watchdog.Start()
}

// configure changes settings of a server of the cluster. Commits survive a kill of the
// server without fsync.
func (c *Citus) configure(port int) error {
	config, err := pgx.ParseConfig(c.address)
	if err != nil {
		return err
	}
	config.Port = uint16(port)
	fsync := "off"
	if c.Durable {
		fsync = "on"
	}
	ctx, cancel := context.WithTimeout(context.Background(), citusTime)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	for _, statement := range []string{
		"ALTER SYSTEM SET fsync = " + fsync, "ALTER SYSTEM SET log_line_prefix = '%m %e '", "SELECT pg_reload_conf()",
	} {
		if _, failed := conn.Exec(ctx, statement); failed != nil {
			err = failed
		}
	}
	return errors.Join(err, conn.Close(ctx))
}

func (c *Citus) program() string { return filepath.Join(os.Getenv(CitusVariable), "cluster.sh") }

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
// gives to clients.
func freePorts(n int) (int, error) {
	for first := 20000 + os.Getpid()%1000*10; first < 32000; first += 10 {
		free := true
		for port := first; port < first+n && free; port++ {
			l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
			if free = err == nil; free {
				free = l.Close() == nil
			}
		}
		if free {
			return first, nil
		}
	}
	return 0, errors.New("no free ports")
}

// URL starts the cluster if necessary and returns the address of its coordinator with
// these parameters, or skips the test if there is no cluster for tests.
func (c *Citus) URL(t testing.TB, parameters url.Values) string {
	t.Helper()
	c.start(t)
	u, err := url.Parse(c.address)
	if err != nil {
		t.Fatal(err)
	}
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
	c.Exec(t, "SET citus.enable_schema_based_sharding = off; CREATE SCHEMA "+name)
	return c.URL(t, url.Values{"search_path": {name}, "distributed": {"1"}, "citus.shard_count": {"4"}})
}

func (c *Citus) query(t testing.TB, f func(ctx context.Context, conn *pgx.Conn) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), citusTime)
	defer cancel()
	conn, err := pgx.Connect(ctx, c.URL(t, url.Values{}))
	if err == nil {
		err = errors.Join(f(ctx, conn), conn.Close(ctx))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Exec executes statements at the coordinator.
func (c *Citus) Exec(t testing.TB, statement string) {
	t.Helper()
	c.query(t, func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, statement)
		return err
	})
}

// Move makes Citus move the largest shard of a store, with its URL, to the other worker while
// it is in use, and returns the port of the worker that has it now.
func (c *Citus) Move(t testing.TB, store string) (port int) {
	t.Helper()
	u, err := url.Parse(store)
	if err != nil {
		t.Fatal(err)
	}
	c.query(t, func(ctx context.Context, conn *pgx.Conn) error {
		var shard, from int
		err := conn.QueryRow(ctx, "SELECT shardid, nodeport FROM citus_shards WHERE table_name = $1::text::regclass ORDER BY shard_size DESC, shardid LIMIT 1",
			u.Query().Get("search_path")+".tool_log").Scan(&shard, &from)
		if err != nil {
			return err
		}
		port = c.port + 1
		if from == port {
			port++
		}
		_, err = conn.Exec(ctx, "SELECT citus_move_shard_placement($1, '127.0.0.1', $2, '127.0.0.1', $3, 'force_logical')", shard, from, port)
		return err
	})
	return port
}

// KillWorker ends all processes of the worker at a port at once, as a loss of power does.
func (c *Citus) KillWorker(t testing.TB, port int) {
	t.Helper()
	pid, err := c.pid(port)
	if err == nil {
		// The children end when they notice the end of their parent.
		err = syscall.Kill(pid, syscall.SIGKILL)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (c *Citus) data(port int) string { return filepath.Join(c.dir, fmt.Sprintf("n%d", port-c.port)) }

func (c *Citus) pid(port int) (int, error) {
	file, err := os.ReadFile(filepath.Join(c.data(port), "postmaster.pid"))
	if err != nil {
		return 0, err
	}
	line, _, _ := strings.Cut(string(file), "\n")
	return strconv.Atoi(line)
}

// StartWorker starts a worker again after KillWorker.
func (c *Citus) StartWorker(t testing.TB, port int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), citusTime)
	defer cancel()
	// Processes of the killed server may hold its shared memory for a moment.
	for {
		cmd := exec.CommandContext(ctx, programs15("pg_ctl"), "-D", c.data(port), "-w", "-t", "60", "-l", filepath.Join(c.dir, "restarted"), "start")
		cmd.Dir, cmd.Env = c.dir, []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C"} // not this user's HOME
		if os.Getuid() == 0 {
			user, err := unprivileged()
			if err != nil {
				t.Fatal(err)
			}
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: user}
		}
		err := cmd.Run()
		if err == nil {
			return
		}
		if ctx.Err() != nil {
			log, _ := os.ReadFile(filepath.Join(c.dir, "restarted"))
			t.Fatalf("starting the worker again: %v\n%s", err, log)
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// programs15 returns the path of a program of the version that cluster.sh uses.
func programs15(name string) string { return filepath.Join("/usr/lib/postgresql/15/bin", name) }

// Stop stops the cluster, if it is running, and removes its directory.
func (c *Citus) Stop() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stop()
}

func (c *Citus) stop() error {
	if c.dir == "" {
		return nil
	}
	if c.watchdog != nil {
		if err := c.watchdog.Process.Kill(); err != nil {
			return err
		}
		_ = c.watchdog.Wait() // always "signal: killed"
	}
	_, err := c.script("stop", c.dir)
	err = errors.Join(err, os.RemoveAll(c.dir))
	c.dir, c.address, c.watchdog = "", "", nil
	return err
}
