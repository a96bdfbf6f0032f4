package command

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/diagnosis"
	"github.com/sequent-dev/sequent/internal/draw"
	"github.com/sequent-dev/sequent/internal/upgrade"
	"github.com/sequent-dev/sequent/setup"
)

func (p *program) upgrade() *cobra.Command {
	job := upgradeJob{program: p}
	c := &cobra.Command{
		Use:   "upgrade [SOURCE]",
		Short: "Replace the installed program by another version",
		Long: `Replace the installed program by the latest version, or by the one in SOURCE: the URL of a release or a mirror, a
folder, or the file of an archive, with the release's SHA256SUMS beside it. An archive whose checksum differs is
refused. Then connect to the server of each MCP client as the client does, and name the clients to restart.

The program is replaced in the folder bin in your data directory, where sequent setup and install.sh put it. If
that folder has no program, this one is replaced where it is. Servers that run go on with the old version until their client
restarts them. The program never upgrades by itself.

--json prints {"ok": bool, "program": file, "from": version, "version": version, "replaced": bool, "findings": [{check,
status, detail, fix}], "restart": [client]}.`,
		Example: "sequent upgrade\n\n# a version, without a question\nsequent upgrade " + upgrade.Releases + "/download/v0.1.0 --yes\n\n" +
			"# what would change\nsequent upgrade --dry-run\n\n# without a network\nsequent upgrade ./sequent_0.1.0_linux_amd64.tar.gz",
		Args: arguments(0, 1, "SOURCE"),
		RunE: func(c *cobra.Command, args []string) error {
			job.from = upgrade.Releases + "/latest/download"
			if len(args) > 0 {
				job.from = args[0]
			}
			return job.run(c.Context())
		},
	}
	c.Flags().BoolVarP(&job.yes, "yes", "y", false, "do not ask for confirmation")
	c.Flags().BoolVar(&job.plan, "dry-run", false, "show what would be replaced and change nothing")
	p.addJSONFlag(c)
	p.addWidthFlag(c)
	return c
}

// An upgradeJob is one run of upgrade.
type upgradeJob struct {
	*program
	from      string
	yes, plan bool
	result    upgradeResult
}

type upgradeResult struct {
	OK       bool                `json:"ok"`
	Program  string              `json:"program"`
	From     string              `json:"from"`
	Version  string              `json:"version"`
	Replaced bool                `json:"replaced"`
	Findings []diagnosis.Finding `json:"findings"`
	Restart  []string            `json:"restart"`
}

func (j *upgradeJob) run(ctx context.Context) error {
	r := &j.result
	var err error
	if r.Program, err = installed(); err != nil {
		return err
	}
	if r.From, err = versionOf(ctx, r.Program); err != nil {
		r.From = "a version that does not run"
	}
	found, err := upgrade.Find(ctx, j.from, runtime.GOOS, runtime.GOARCH)
	if err != nil {
		return failure(err, "pass the URL of a release, a folder, or the file of an archive; nothing was changed")
	}
	r.Version = found.Version
	what := fmt.Sprintf("%s in %s by %s", r.From, shortPath(r.Program), r.Version)
	switch {
	case r.From == r.Version:
	case j.plan && !j.json:
		return j.printf("This would replace %s.", what)
	case j.plan:
	default:
		if !j.yes {
			if err := j.confirm(ctx, "Replace "+what+"?", "Nothing was changed."); err != nil {
				return err
			}
		}
		if err := j.replace(ctx, found); err != nil {
			return err
		}
		r.Replaced = true
	}
	if j.plan {
		r.OK = true
		return writeJSON(j.out, r)
	}
	var using []setup.Client
	if r.Findings, using, err = j.examineClients(ctx, r.Version); err != nil {
		return err
	}
	return j.report(using)
}

// installed returns the program to replace.
func installed() (string, error) {
	data, err := app.DataDir()
	if err != nil {
		return "", err
	}
	file := setup.ProgramFile(data)
	if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
		return file, nil
	}
	exe, err := os.Executable()
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(exe); err == nil {
		exe = real
	}
	switch {
	case strings.Contains(filepath.ToSlash(exe), "/Cellar/"):
		return "", &usageError{msg: exe + " belongs to Homebrew", fix: "run brew upgrade sequent"}
	case setup.Temporary(exe, os.TempDir()):
		return "", &usageError{msg: "no program is installed; " + exe + " is temporary", fix: "run sequent setup, which installs this version"}
	}
	return exe, nil
}

// versionOf starts a program and returns its version.
func versionOf(ctx context.Context, file string) (string, error) {
	out, err := exec.CommandContext(ctx, file, "version", "--json").Output()
	if err != nil {
		return "", err
	}
	var b build
	if err := json.Unmarshal(bytes.TrimSpace(out), &b); err != nil {
		return "", err
	}
	return b.Version, nil
}

// replace replaces the program. The new one has to run and to say its version first.
func (j *upgradeJob) replace(ctx context.Context, found *upgrade.Release) error {
	const unchanged = "nothing was changed"
	content, err := found.Program(ctx)
	if err != nil {
		return failure(err, unchanged+"; download it again, and report it if it happens twice")
	}
	dir, err := os.MkdirTemp(filepath.Dir(j.result.Program), ".upgrade.")
	if err != nil {
		if errors.Is(err, fs.ErrPermission) {
			return failure(err, unchanged+"; run this as the owner of "+filepath.Dir(j.result.Program))
		}
		return err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, filepath.Base(j.result.Program))
	if err := os.WriteFile(file, content, 0o755); err != nil {
		return err
	}
	version, err := versionOf(ctx, file)
	if err == nil && version != found.Version {
		err = fmt.Errorf("it says that it is %s", version)
	}
	if err != nil {
		return failure(fmt.Errorf("the program in %s was refused: %w", found.Name, err), unchanged)
	}
	return setup.Install(file, j.result.Program)
}

// failure is an error that tells what to do.
func failure(err error, fix string) error {
	return &sequent.Error{Code: sequent.CodeInternal, Msg: err.Error(), Fix: fix}
}

// report prints what was done, and which clients have to be restarted.
func (j *upgradeJob) report(using []setup.Client) error {
	r := &j.result
	r.OK = !slices.ContainsFunc(r.Findings, func(f diagnosis.Finding) bool { return f.Status == diagnosis.Fail })
	r.Restart = []string{}
	for _, c := range using {
		r.Restart = append(r.Restart, c.ID)
	}
	var err error
	if j.json {
		err = writeJSON(j.out, r)
	} else {
		lines := []draw.Line{{{Text: shortPath(r.Program) + ": ", Role: draw.Text}, {Text: cmp.Or(map[bool]string{true: r.Version + ", was " + r.From}[r.Replaced], r.Version+" already"), Role: draw.Title}}}
		if len(r.Findings) > 0 {
			lines = append(append(lines, nil), j.findings(r.Findings)...)
		}
		if len(using) > 0 && r.Replaced {
			var names []string
			for _, c := range using {
				names = append(names, c.Name)
			}
			lines = append(lines, nil)
			lines = append(lines, draw.Beside(nil, "Restart "+strings.Join(names, ", ")+": servers that run keep "+r.From+" until then.", draw.Title, j.drawing())...)
		}
		err = j.print(lines...)
	}
	if err == nil && !r.OK {
		return errReported
	}
	return err
}
