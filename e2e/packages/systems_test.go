package packages

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/sequent-dev/sequent/e2e/programtest"
	"github.com/sequent-dev/sequent/internal/needtest"
)

// A system runs programs of a release that are not for this machine.
type system struct {
	goos, goarch string
	run          []string                 // comes before the program
	path         func(file string) string // name of a file there
	data         string                   // data directory, as this machine names it
	program      string                   // file name of the program
}

// windows runs programs for Windows under Wine, in a Windows folder of the test.
func windows(t *testing.T, h *home) system {
	t.Helper()
	needtest.Program(t, "wine", "install wine and wine64")
	wine := filepath.Join(h.dir, "wine-run")
	programtest.Output(t, exec.Command("go", "build", "-C", "../../tools", "-o", wine, "./wine"))
	prefix := filepath.Join(h.dir, "prefix")
	h.run(wine, "-prefix", prefix)
	users, err := filepath.Glob(filepath.Join(prefix, "drive_c", "users", "*", "AppData", "Local"))
	if err != nil || len(users) != 1 {
		t.Fatalf("the folders of users are %q, %v", users, err)
	}
	return system{
		"windows", "amd64", []string{wine, "-prefix", prefix},
		func(file string) string { return "Z:" + strings.ReplaceAll(file, "/", `\`) },
		filepath.Join(users[0], "sequent"), "sequent.exe",
	}
}

// arm64 runs programs for linux/arm64 with QEMU, and so do these programs: the kernel is told
// to start them with QEMU, in a namespace of the test, unless it does so already.
func arm64(t *testing.T, h *home) system {
	t.Helper()
	s := system{"linux", "arm64", nil, func(file string) string { return file }, filepath.Join(h.dir, ".local", "share", "sequent"), "sequent"}
	if runtime.GOARCH == "arm64" {
		return s
	}
	qemu := needtest.Program(t, "qemu-aarch64-static", "install qemu-user-static")
	probe := extract(t, h, "linux", "arm64", "probe")
	if h.command(probe, "version").Run() == nil {
		return s
	}
	// Magic and mask are the header of a program for arm64; F opens QEMU now.
	const magic = `\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00`
	const mask = `\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff`
	script := fmt.Sprintf("mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc && printf '%%s' '%s' >/proc/sys/fs/binfmt_misc/register && exec \"$@\"",
		":qemu-aarch64:M::"+magic+":"+mask+":"+qemu+":F")
	s.run = []string{needtest.Program(t, "unshare", "install util-linux"), "--user", "--map-root-user", "--mount", "sh", "-c", script, "sh"}
	if out, err := h.command(s.run[0], append(s.run[1:], probe, "version")...).CombinedOutput(); err != nil {
		needtest.Missing(t, fmt.Sprintf("the kernel does not start programs for arm64 (%v, %s)", err, out), "install qemu-user-static and binfmt-support, as root of the machine")
	}
	return s
}

// extract puts the program of a system into a new directory of the home, as unpacked from its
// archive, and returns its path.
func extract(t *testing.T, h *home, goos, goarch, dir string) string {
	t.Helper()
	name := "sequent_" + number + "_" + goos + "_" + goarch
	target := filepath.Join(h.dir, dir)
	if err := os.MkdirAll(target, 0o700); err != nil {
		t.Fatal(err)
	}
	if goos == "windows" {
		programtest.Output(t, exec.Command("python3", "-m", "zipfile", "-e", filepath.Join(release(t), name+".zip"), target))
		return filepath.Join(target, name, "sequent.exe")
	}
	programtest.Output(t, exec.Command("tar", "-xzf", filepath.Join(release(t), name+".tar.gz"), "-C", target))
	return filepath.Join(target, name, "sequent")
}

// The programs for Windows and for linux/arm64 do what the one for this machine does: setup
// installs them and connects through the entry of a client, thoughts survive kill -9, doctor
// finds nothing, and the setup of another version replaces a program that runs.
func TestOtherSystems(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("Wine and QEMU are used on Linux")
	}
	for name, open := range map[string]func(*testing.T, *home) system{"windows": windows, "arm64": arm64} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			s := open(t, h)
			old := filepath.Join(h.dir, "node_modules", s.program) // where a program is not to stay
			build := exec.Command("go", "build", "-C", "../..", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", old, "./cmd/sequent")
			build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+s.goos, "GOARCH="+s.goarch)
			programtest.Output(t, build)
			installed := filepath.Join(s.data, "bin", s.program)
			run := func(program string, args ...string) string {
				t.Helper()
				all := append(append(s.run[:len(s.run):len(s.run)], s.path(program)), args...)
				return h.run(all[0], all[1:]...)
			}
			start := func(version string) server {
				t.Helper()
				all := append(s.run[:len(s.run):len(s.run)], s.path(installed), "serve")
				return startServer(t, h, version, all[0], all[1:]...)
			}
			var setup struct {
				OK      bool
				Clients []struct{ Verified bool }
			}
			if out := run(old, "setup", "--client", "cursor", "--yes", "--json"); json.Unmarshal([]byte(out), &setup) != nil || !setup.OK || len(setup.Clients) != 1 || !setup.Clients[0].Verified {
				t.Errorf("setup printed %s", out)
			}

			// Killed after a reply, the server loses nothing.
			p := start("dev")
			session := p.think(t, "", "Orders fail at noon.")
			for n := range 20 {
				p.think(t, session, fmt.Sprintf("Thought %d of twenty.", n))
			}
			p.Signal(t, syscall.SIGKILL)
			p = start("dev")
			if got := p.recall(t, session); !strings.Contains(got, "Thought 19 of twenty.") || !strings.Contains(got, "Orders fail at noon.") {
				t.Errorf("after kill -9 recall answers %s", got)
			}

			// The program is replaced while it runs.
			if out := run(extract(t, h, s.goos, s.goarch, "node_modules/release"), "setup", "--client", "cursor", "--yes", "--json"); json.Unmarshal([]byte(out), &setup) != nil || !setup.OK {
				t.Errorf("setup of the release printed %s", out)
			}
			if out := run(installed, "version"); !strings.HasPrefix(out, "sequent "+version+" (") || !strings.Contains(out, s.goos+"/"+s.goarch) {
				t.Errorf("after the replacement version printed %s", out)
			}
			p.think(t, session, "The old server goes on.")
			p.Close(t)
			p = start(version)
			if got := p.recall(t, session); !strings.Contains(got, "The old server goes on.") {
				t.Errorf("after the replacement recall answers %s", got)
			}
			p.Close(t)

			var doctor struct {
				OK       bool
				Findings []struct{ Status, Detail string }
			}
			if out := run(installed, "doctor", "--json"); json.Unmarshal([]byte(out), &doctor) != nil || !doctor.OK {
				t.Errorf("doctor printed %s", out)
			}
			if out := run(installed, "show", session); !strings.Contains(out, "The old server goes on.") {
				t.Errorf("show printed %s", out)
			}
			run(installed, "remove", "--yes")
		})
	}
}
