package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/mcpserver/client"
	"github.com/sequent-dev/sequent/setup"
)

// remoteServer sets the server to that of --team.
func (j *setupJob) remoteServer() error {
	u, err := url.Parse(j.team)
	switch {
	case j.team == "":
		return misuse(j.cmd, "--token-env requires --team URL")
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return invalid("--team", j.team, "a URL such as https://think.example.com/mcp")
	case u.User != nil:
		return invalid("--team", u.Redacted(), "a URL without a password; --token-env names the variable with the token")
	case j.tokenEnv != "" && !regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`).MatchString(j.tokenEnv):
		return &usageError{
			msg: "--token-env is not the name of an environment variable",
			fix: "pass the name, such as SEQUENT_TOKEN, not the token",
		}
	case j.cmd.Flags().Changed("dialect") || j.cmd.Flags().Changed("store"):
		return misuse(j.cmd, "--team excludes --dialect and --store, which the server of the team decides; /mcp/NAME in the URL chooses a dialect")
	}
	j.server = setup.Server{URL: j.team, TokenEnv: j.tokenEnv}
	j.sessions = "--server " + quoted(j.team)
	return nil
}

// localServer sets the server to this program. A dialect or store from the environment of this shell is
// not for the configuration of a client.
func (j *setupJob) localServer() error {
	if err := j.findProgram(); err != nil {
		return err
	}
	j.server.Args = []string{"serve"}
	if j.given("dialect") {
		j.server.Args = append(j.server.Args, "--dialect", j.dialect)
	}
	if !j.given("store") {
		return nil
	}
	place, err := app.Locate(j.store)
	if err != nil {
		return err
	}
	address, isDatabase := place.Database()
	file := cmp.Or(place.Path, j.store)
	switch {
	case isDatabase && j.inFiles:
		return &usageError{
			msg: "a file of the project cannot name a database, whose password others would read",
			fix: "omit --store, and set " + variable("store") + " for the client",
		}
	case isDatabase: // its password is visible in arguments
		j.server.Env = map[string]string{variable("store"): address}
		j.sessions = "--store " + quoted(place.String())
		return nil
	case j.inFiles && !place.Memory: // others have the project elsewhere
		if file, err = filepath.Rel(j.files.System.Dir, file); err != nil || !filepath.IsLocal(file) {
			return invalid("--store", j.store, "a file inside the project with --project")
		}
		file = filepath.ToSlash(file)
	}
	j.sessions = "--store " + quoted(file)
	j.server.Args = append(j.server.Args, "--store", file)
	return nil
}

// ignoreStore keeps sessions in the folder .sequent of a project out of git.
func (j *setupJob) ignoreStore() error {
	const ignore = ".sequent/.gitignore"
	i := slices.Index(j.server.Args, "--store")
	if !j.inFiles || i < 0 || !strings.HasPrefix(j.server.Args[i+1], ".sequent/") {
		return nil
	}
	root, err := os.OpenRoot(j.files.System.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.MkdirAll(".sequent", 0o700); err != nil {
		return err
	}
	if _, err := root.Lstat(ignore); err == nil {
		return nil
	}
	return root.WriteFile(ignore, []byte("*\n"), 0o644)
}

// findProgram decides which program entries name. The name on the PATH outlives an update by a
// package manager, which moves the file. A program that does not stay where it is is copied.
// Others have a project elsewhere, so that its entry has the name alone.
func (j *setupJob) findProgram() error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	data, err := app.DataDir()
	if err != nil {
		return err
	}
	own := setup.ProgramFile(data)
	j.installed = own
	found, missing := exec.LookPath(setup.EntryName)
	isThis := missing == nil && filepath.IsAbs(found) && sameFile(found, exe)
	temporary := setup.Temporary(exe, os.TempDir(), j.getenv("GOCACHE"))
	switch {
	case sameFile(exe, own):
	case isThis && !temporary:
		j.installed = found
	case temporary || j.inFiles:
		j.source = exe
	default:
		j.installed = exe
	}
	// A link in ~/.local/bin makes a copy a command, if that is on the PATH. Windows has no links that
	// every user may make.
	bin := filepath.Join(j.files.System.Home, ".local", "bin")
	onPath := slices.ContainsFunc(filepath.SplitList(j.getenv("PATH")), func(dir string) bool { return filepath.Clean(dir) == bin })
	if j.installed == own && (missing != nil || isThis && temporary) && onPath && runtime.GOOS != "windows" {
		j.link = filepath.Join(bin, setup.EntryName)
	}
	j.server.Command = j.installed
	if j.inFiles {
		j.server.Command = setup.EntryName
	}
	return nil
}

// install puts the program where entries find it.
func (j *setupJob) install() error {
	if j.source != "" {
		if err := setup.Install(j.source, j.installed); err != nil {
			return fmt.Errorf("copy this program: %w", err)
		}
	}
	if j.link != "" {
		if _, err := setup.Link(j.installed, j.link); err != nil {
			return fmt.Errorf("link this program: %w", err)
		}
	}
	return nil
}

// unlink removes the link that setup has made in a directory of the PATH.
func (j *setupJob) unlink() error {
	data, err := app.DataDir()
	if err != nil {
		return err
	}
	link := filepath.Join(j.files.System.Home, ".local", "bin", setup.EntryName)
	removed, err := setup.Unlink(setup.ProgramFile(data), link)
	if removed {
		j.tell("Removed the link %s.", shortPath(link))
	}
	return err
}

// called returns the command that starts the installed program in this shell.
func (j *setupJob) called() string {
	if j.installed == "" {
		return selfName()
	}
	if found, err := exec.LookPath(setup.EntryName); err == nil && sameFile(found, j.installed) {
		return setup.EntryName
	}
	return quoted(j.installed)
}

// errNotOnPath means that the entry of a project starts another program, or none.
var errNotOnPath = errors.New("the entry starts sequent, which is not this program on this PATH")

// findsProgram refuses an entry that names the program alone, if this shell finds another one.
func (j *setupJob) findsProgram() error {
	if j.inFiles && j.server.URL == "" && j.called() != setup.EntryName {
		return errNotOnPath
	}
	return nil
}

// printEntries prints the entries as whole files.
func (j *setupJob) printEntries(clients []setup.Client) error {
	if err := j.install(); err != nil {
		return err
	}
	for i, c := range clients {
		text, err := j.files.Snippet(c, j.inFiles, j.server)
		if err != nil {
			return &usageError{msg: err.Error(), fix: "choose another client with --client"}
		}
		if len(clients) > 1 {
			text = fmt.Sprintf("# %s: %s\n%s", c.Name, shortPath(j.files.System.File(c, j.inFiles)), text)
		}
		if i > 0 {
			text = "\n" + text
		}
		j.failed(j.write("", text))
	}
	if j.source != "" {
		j.tell("Copied this program to %s.", j.installed)
	}
	if err := j.findsProgram(); err != nil {
		j.tell("%v: put %s first.", err, filepath.Dir(j.installed))
	}
	return nil
}

// verify tests the server as the clients reach it. What else a file says about the server is not tested: a
// project's file has other authors.
func (j *setupJob) verify(ctx context.Context) {
	fix := "run " + j.called() + " serve in a terminal to see what it says"
	if j.server.URL != "" {
		fix = "check the URL, and the token in " + cmp.Or(j.server.TokenEnv, "--token-env "+tokenVariable)
	}
	var found contact
	err := j.findsProgram()
	if err != nil {
		fix = "put " + filepath.Dir(j.installed) + " first on the PATH"
	} else if found, err = j.handshake(ctx, j.server); errors.Is(err, errNoToken) {
		fix = "the entry is written; set " + tokenVariable + ", pass --token-env " + tokenVariable + " and run sequent setup again to test it"
	}
	for i := range j.results {
		r := &j.results[i]
		switch {
		case r.Action == actionFailed || r.change.Skill:
		case err != nil:
			r.Error, r.Fix = err.Error(), fix
		default:
			r.Verified, r.Server, r.Tools = true, found.name+" "+found.version, found.tools
		}
	}
}

// A contact is a server that answered.
type contact struct {
	name, version string
	tools         []string
}

// errNoToken means that a server was not asked, because the variable with its token is not
// set here, or is not tokenVariable. It may be set for the client.
var errNoToken = errors.New("so the connection was not tested")

// handshake connects to a server as a client does with an entry, and asks it for its tools.
func (p *program) handshake(ctx context.Context, s setup.Server) (c contact, err error) {
	ctx, cancel := context.WithTimeout(ctx, app.ConnectTimeout)
	defer cancel()
	var server *client.Client
	said := "" // a file with what the server says on standard error
	if s.URL != "" {
		var token string
		if token, err = p.tokenFor(s); err == nil {
			server, err = client.ConnectHTTP(ctx, s.URL, token)
		}
	} else {
		cmd := exec.Command(s.Command, s.Args...)
		cmd.Env = os.Environ()
		if f, err := os.CreateTemp("", "sequent-setup-*"); err == nil {
			said, cmd.Stderr = f.Name(), f
			defer func() { _, _ = f.Close(), os.Remove(said) }()
		}
		for _, name := range slices.Sorted(maps.Keys(s.Env)) {
			cmd.Env = append(cmd.Env, name+"="+s.Env[name])
		}
		server, err = client.Connect(ctx, cmd)
	}
	if err == nil {
		c.name, c.version = server.Server()
		tools, failed := server.Tools(ctx)
		for _, t := range tools {
			c.tools = append(c.tools, t.Name)
		}
		_ = server.Close() // it has answered
		err = failed
	}
	text, _ := os.ReadFile(said)
	lines := strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' || r == '\r' })
	if err != nil && len(lines) > 0 {
		err = fmt.Errorf("the server says: %s", strings.Join(lines[max(0, len(lines)-3):], "; "))
	}
	return c, err
}

// tokenFor returns the token for a server, which an entry may take from any variable. Only
// tokenVariable is sent: a file must not choose which variables leave this machine.
func (p *program) tokenFor(s setup.Server) (string, error) {
	token := p.getenv(tokenVariable)
	switch {
	case s.TokenEnv == "":
		return "", nil
	case s.TokenEnv != tokenVariable:
		return "", fmt.Errorf("%s is not sent by this command, %w", s.TokenEnv, errNoToken)
	case token == "":
		return "", fmt.Errorf("%s is not set in this shell, %w", tokenVariable, errNoToken)
	}
	_, err := newRemote(s.URL, token) // refuses to send it unencrypted
	return token, err
}
