package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"

	"github.com/sequent-dev/sequent/internal/diagnosis"
	"github.com/sequent-dev/sequent/internal/draw"
	"github.com/sequent-dev/sequent/setup"
)

// examineClients checks the entries for this server in the configuration files of clients,
// for the user and for the project in the working directory: the program exists, answers, and
// is of a version. It also returns the clients whose entry starts a program.
func (p *program) examineClients(ctx context.Context, version string) ([]diagnosis.Finding, []setup.Client, error) {
	files, err := p.clientFiles()
	if err != nil {
		return nil, nil, err
	}
	var report diagnosis.Report
	var without []string
	var using []setup.Client
	seen := make(map[string]bool) // clients may share a file
	for _, c := range setup.Clients() {
		some := false
		for _, project := range []bool{false, true} {
			file := files.System.File(c, project)
			if file == "" || seen[file] {
				continue
			}
			seen[file] = true
			entries, err := files.Entries(c, project)
			if e, ok := errors.AsType[*setup.FileError](err); ok {
				report.Warn("client", "correct it; "+c.Name+" may ignore the whole file",
					"%s has a file that cannot be read: %v (%s)", c.Name, e.Err, shortPath(file))
				some = true
				continue
			}
			for _, name := range slices.Sorted(maps.Keys(entries)) {
				if s := entries[name]; name == setup.EntryName || isProgram(s.Command) {
					some = true
					p.examineEntry(ctx, &report, fmt.Sprintf("%s (%s)", c.Name, shortPath(file)), c.ID, version, s)
					if s.Command != "" && !slices.ContainsFunc(using, func(u setup.Client) bool { return u.ID == c.ID }) {
						using = append(using, c)
					}
				}
			}
		}
		if !some && files.System.Installed(c) {
			without = append(without, c.ID)
		}
	}
	if len(without) > 0 {
		report.OK("client", "without an entry: %s; sequent setup adds it", strings.Join(without, ", "))
	}
	return report.Findings, using, nil
}

// examineEntry checks one entry, which is to start a program of a version.
func (p *program) examineEntry(ctx context.Context, report *diagnosis.Report, client, id, version string, s setup.Server) {
	where := s.URL
	if where == "" {
		found, err := exec.LookPath(s.Command)
		switch {
		case err != nil && strings.ContainsAny(s.Command, `/\`):
			report.Fail("client", "run sequent setup --client "+id, "%s starts %s, which does not exist or is not executable", client, s.Command)
			return
		case err != nil: // the client may have another PATH
			report.Warn("client", "run sequent setup --client "+id+", which writes the full path", "%s starts %s, which is not on this PATH", client, s.Command)
			return
		}
		where = found
	}
	got, err := p.handshake(ctx, s)
	switch {
	case errors.Is(err, errNoToken):
		report.Warn("client", "set it here too, to test the connection", "%s connects to %s, but %v", client, where, err)
	case err != nil && s.URL != "":
		report.Fail("client", "check that the server runs, and the token in "+cmp.Or(s.TokenEnv, "the environment"), "%s connects to %s, which does not answer: %v", client, where, err)
	case err != nil:
		report.Fail("client", "run it in a terminal to see what it says, or run sequent setup --client "+id, "%s starts %s, which does not answer: %v", client, where, err)
	case got.version != version && s.URL == "":
		report.Warn("client", "run sequent setup --client "+id+" with the newer version", "%s starts %s, which is %s %s; want %s", client, where, got.name, got.version, version)
	case s.URL != "":
		report.OK("client", "%s connects to %s: %s %s, %s", client, where, got.name, got.version, draw.Count(len(got.tools), "tool", "tools"))
	default:
		report.OK("client", "%s starts %s: %s %s, %s", client, where, got.name, got.version, draw.Count(len(got.tools), "tool", "tools"))
	}
}

// isProgram reports whether a command is this program by its name.
func isProgram(command string) bool {
	name := command[strings.LastIndexAny(command, `/\`)+1:]
	return strings.TrimSuffix(strings.ToLower(name), ".exe") == "sequent"
}
