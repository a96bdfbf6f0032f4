//go:build linux

// Package machinetest boots systemd for end-to-end tests, on a Debian of its own.
package machinetest

import (
	"bytes"
	"context"
	"crypto/rand"
	_ "embed"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Variable is set where the kernel and the rights of the user allow machines.
const Variable = "SEQUENT_MACHINE"

//go:embed machine.sh
var script []byte

// limit bounds how long anything may take.
const limit = 3 * time.Minute

// A Machine is a Debian of its own on this kernel: namespaces, a root file system with the programs
// of this machine and without its state, and systemd as process 1. It shares no network.
type Machine struct {
	pid int // of process 1, as this machine counts
}

// New boots a machine, which ends with the test. Without [Variable] in the environment it skips the
// test, also in the gate: .ci/run sets it where machines run.
func New(t testing.TB) *Machine {
	t.Helper()
	if os.Getenv(Variable) == "" {
		t.Skip("SKIP: " + Variable + " is not set; run this test as root with " + Variable + "=1")
	}
	file := filepath.Join(t.TempDir(), "machine.sh")
	if err := os.WriteFile(file, script, 0o700); err != nil {
		t.Fatal(err)
	}
	name := "sequent-test-" + rand.Text()
	cmd := exec.Command(file, "run", t.TempDir(), name, "/lib/systemd/systemd", "--show-status=0", "--log-target=journal-or-kmsg", "--unit=multi-user.target")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	ended, err := startUntilEnd(t, cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // and with it process 1 of the machine
		<-ended
		for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(50 * time.Millisecond) {
			swept, err := exec.Command(file, "clean", name).CombinedOutput()
			if err == nil {
				break
			}
			if time.Now().After(deadline) {
				t.Errorf("the control group of the machine: %v, %s", err, swept)
				break
			}
		}
		if t.Failed() {
			t.Logf("the machine: %.4000s", &out)
		}
	})
	m := new(Machine)
	await(t, "systemd is process 1 of the machine", func() bool {
		select {
		case <-ended:
			t.Fatalf("the machine did not start: %s", &out)
		default:
		}
		m.pid = childOf(cmd.Process.Pid)
		comm, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", m.pid))
		return err == nil && string(comm) == "systemd\n"
	})
	await(t, "the machine has booted", func() bool {
		state, err := m.Command("systemctl", "is-active", "multi-user.target").Output()
		return err == nil && string(state) == "active\n"
	})
	return m
}

// startUntilEnd starts a program that is killed with the test's process. The channel is closed
// after its end.
func startUntilEnd(t testing.TB, cmd *exec.Cmd) (<-chan struct{}, error) {
	t.Helper()
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	started, ended := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(ended)
		runtime.LockOSThread() // the kernel sends Pdeathsig when this thread ends
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		if started <- err; err == nil {
			_ = cmd.Wait() // by a signal
		}
	}()
	return ended, <-started
}

// childOf returns the child of a process that has one.
func childOf(pid int) int {
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		_, rest, _ := bytes.Cut(text, []byte(") "))
		if fields := bytes.Fields(rest); len(fields) > 1 && string(fields[1]) == strconv.Itoa(pid) {
			child, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			return child
		}
	}
	return 0
}

// Command returns a command of root in the machine.
func (m *Machine) Command(name string, args ...string) *exec.Cmd {
	enter := []string{"--target", strconv.Itoa(m.pid), "--mount", "--uts", "--ipc", "--net", "--pid", "--cgroup", "--wdns=/root", "--", name}
	cmd := exec.Command("nsenter", append(enter, args...)...)
	cmd.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "SYSTEMD_PAGER=", "LC_ALL=C.UTF-8"}
	return cmd
}

// Run runs commands of root in the machine and returns what they print.
func (m *Machine) Run(t testing.TB, script string) string {
	t.Helper()
	cmd := m.Command("timeout", strconv.Itoa(int(limit.Seconds())), "bash", "-euc", script)
	var out, problems strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s\n%v\n%s%s", script, err, &out, &problems)
	}
	return out.String()
}

// Write writes a file of root in the machine.
func (m *Machine) Write(t testing.TB, path string, text []byte, mode os.FileMode) {
	t.Helper()
	file := fmt.Sprintf("/proc/%d/root%s", m.pid, path)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text, mode); err != nil {
		t.Fatal(err)
	}
}

// Client returns an HTTP client in the network of the machine.
func (m *Machine) Client() *http.Client {
	return &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{DialContext: m.Dial}}
}

// Dial connects to an IP address in the network of the machine.
func (m *Machine) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	type result struct {
		conn net.Conn
		err  error
	}
	dialled := make(chan result, 1)
	go func() {
		runtime.LockOSThread()
		var r result
		var here *os.File
		if here, r.err = os.Open("/proc/thread-self/ns/net"); r.err == nil {
			defer here.Close()
			r.conn, r.err = m.dialInside(ctx, network, address)
			// A thread that stays in the machine would end with this goroutine, and with it
			// every program that it has started with Pdeathsig.
			if err := unix.Setns(int(here.Fd()), unix.CLONE_NEWNET); err == nil {
				runtime.UnlockOSThread()
			}
		}
		dialled <- r
	}()
	r := <-dialled
	return r.conn, r.err
}

// dialInside moves the thread of the goroutine into the network of the machine and connects.
func (m *Machine) dialInside(ctx context.Context, network, address string) (net.Conn, error) {
	ns, err := os.Open(fmt.Sprintf("/proc/%d/ns/net", m.pid))
	if err != nil {
		return nil, err
	}
	defer ns.Close()
	if err := unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET); err != nil {
		return nil, err
	}
	return new(net.Dialer).DialContext(ctx, network, address)
}

func await(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(limit); !holds(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited for %v: %s", limit, what)
		}
	}
}
