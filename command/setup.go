package command

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/draw"
	"github.com/sequent-dev/sequent/setup"
)

func (p *program) setup() *cobra.Command {
	job := &setupJob{program: p}
	var dialect, team, tokenEnv string
	dialects := app.Config{Dialects: p.dialects}.Names()
	c := &cobra.Command{
		Use:   "setup",
		Short: "Add the server to your MCP clients and test it",
		Long: `Add the server to the configuration files of the MCP clients that are installed, then start each entry as
the client does and connect to it. The command shows the changes and asks before it makes them.

Only the entry named sequent changes. Comments, order and formatting of a file stay, a copy of the file is
kept, and sequent remove restores it. A file with a syntax error is left alone. If the entry is already as
it should be, nothing is written.

The entry names this program. If it runs from a cache of npm, by go run or from a directory for temporary
files, it is first copied to the folder bin in your data directory, and the entry names the copy.

--team adds the server of a team at a URL instead. Its token stays in the environment variable of
--token-env; the entry names the variable. Claude Desktop cannot connect to a URL from its file, and Zed
cannot read a token from a variable.

--with-skill also installs a skill, which tells the agent when to think and how, for Claude Code, and for
Codex, Gemini CLI, OpenCode and Copilot CLI, which share one.

--json prints {"ok": bool, "program": file, "clients": [{client, name, file, skill, action, copy, verified, server,
version, tools, error, fix}], "say": sentence}; action is add, update, keep or failed.`,
		Example: "sequent setup\n\n# one client, without a question\nsequent setup --client cursor --yes\n\n" +
			"# show what would change\nsequent setup --all --dry-run\n\n# print the entry to paste it\nsequent setup --client zed --print\n\n" +
			"# for this project, with a store of its own\nsequent setup --client claude-code --project --store .sequent/sequent.db --yes\n\n" +
			"# the server of a team\nsequent setup --client codex --team https://think.example.com/mcp --token-env SEQUENT_TEAM_TOKEN --yes",
		Args: arguments(0, 0, ""),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := job.open(); err != nil {
				return err
			}
			if team != "" || tokenEnv != "" {
				if err := checkTeam(c, team, tokenEnv); err != nil {
					return err
				}
				job.server = setup.Server{URL: team, TokenEnv: tokenEnv}
			} else if err := job.local(given(p, c, "dialect", dialect), given(p, c, "store", p.store), dialects); err != nil {
				return err
			}
			return job.add(c.Context())
		},
	}
	job.flags(c)
	c.Flags().BoolVar(&job.show, "print", false, "print the entries and change nothing")
	c.Flags().BoolVar(&job.skill, "with-skill", false, "also install the skill, which says when to think and how")
	c.Flags().StringVar(&dialect, "dialect", dialects[0], "dialect of the tool: "+strings.Join(dialects, ", "))
	c.Flags().StringVar(&team, "team", "", "URL of a server over HTTP, instead of this program")
	c.Flags().StringVar(&tokenEnv, "token-env", "", "environment variable with the bearer token for --team")
	complete(c, "dialect", dialects...)
	return c
}

func (p *program) remove() *cobra.Command {
	job := &setupJob{program: p}
	c := &cobra.Command{
		Use:   "remove",
		Short: "Remove the server from your MCP clients",
		Long: `Remove the entry named sequent from the configuration files of MCP clients, and nothing else. A file that
has not changed otherwise since sequent setup is restored byte for byte; a file that sequent setup created is
deleted. The command shows the changes and asks before it makes them. A copy of each file is kept.

Without --client the entry is removed from the files of all clients, with --project from those of the project
in the working directory, and with --all from both. Sessions are kept; sequent delete deletes them.

The skill that sequent setup installed is deleted too, unless a client that is not chosen uses it.

--json prints {"ok": bool, "clients": [{client, name, file, skill, action, copy, error}]}; action is remove or
failed.`,
		Example: "sequent remove\n\n# from one client, without a question\nsequent remove --client cursor --yes\n\n# show what would change\nsequent remove --all --dry-run",
		Args:    arguments(0, 0, ""),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := job.open(); err != nil {
				return err
			}
			return job.remove(c.Context())
		},
	}
	job.flags(c)
	return c
}

// given returns the value of a flag of the command line, or an empty string. A value from the
// environment of this shell is not for the configuration of a client.
func given(p *program, c *cobra.Command, name, value string) string {
	if c.Flags().Changed(name) && !slices.Contains(p.inherited, name) {
		return value
	}
	return ""
}

// checkTeam checks the flags for a server over HTTP.
func checkTeam(c *cobra.Command, team, tokenEnv string) error {
	u, err := url.Parse(team)
	switch {
	case team == "":
		return misuse(c, "--token-env requires --team URL")
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return invalid("team", team, "a URL such as https://think.example.com/mcp")
	case u.User != nil:
		return invalid("team", u.Redacted(), "a URL without a password; --token-env names the variable with the token")
	case tokenEnv != "" && !regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`).MatchString(tokenEnv):
		return &usageError{msg: "--token-env is not the name of an environment variable", fix: "pass the name, such as SEQUENT_TEAM_TOKEN, not the token"}
	case c.Flags().Changed("dialect") || c.Flags().Changed("store"):
		return misuse(c, "--team excludes --dialect and --store, which the server of the team decides; /mcp/NAME in the URL chooses a dialect")
	}
	return nil
}

// clientFiles returns access to the files of clients.
func (p *program) clientFiles() (setup.Setup, error) {
	data, err := app.DataDir()
	if err != nil {
		return setup.Setup{}, err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return setup.Setup{}, err
	}
	dir, err := os.Getwd()
	if err != nil {
		return setup.Setup{}, err
	}
	return setup.Setup{
		System: setup.System{
			OS: runtime.GOOS, Home: home, Dir: dir, Getenv: p.getenv, LookPath: exec.LookPath,
			Exists: func(path string) bool { _, err := os.Stat(path); return err == nil },
		},
		Data: filepath.Join(data, "setup"), Now: p.now,
	}, nil
}

// add plans, shows, makes and tests the changes of setup.
func (j *setupJob) add(ctx context.Context) error {
	clients, err := j.chosen()
	if err != nil {
		return err
	}
	if j.show {
		return j.printEntries(clients)
	}
	for _, c := range clients {
		change, err := j.files.Add(c, j.project, j.server)
		j.planned(c, j.project, change, err)
	}
	if j.skill {
		if err := j.addSkill(clients); err != nil {
			return err
		}
	}
	what := "Add sequent to " + draw.Count(j.changes(), "file", "files") + "?"
	if err := j.agree(ctx, what); err != nil || j.plan {
		return err
	}
	if j.source != "" && j.server.Command != "" {
		if err := setup.Install(j.source, j.server.Command); err != nil {
			return fmt.Errorf("copy this program: %w", err)
		}
	}
	j.apply()
	for i := range j.results {
		if r := &j.results[i]; r.Action != actionFailed && !r.change.Skill {
			j.verify(ctx, r)
		}
	}
	return j.report(ctx)
}

// remove plans, shows and makes the changes of remove.
func (j *setupJob) remove(ctx context.Context) error {
	clients := setup.Clients()
	if len(j.clients) > 0 {
		clients = nil
		for _, id := range j.clients {
			c, _ := setup.Lookup(id)
			clients = append(clients, c)
		}
	}
	for _, c := range clients {
		for _, project := range []bool{false, true} {
			if project != j.project && !j.all {
				continue
			}
			change, err := j.files.Remove(c, project)
			if err != nil || change.Action == setup.Remove {
				j.planned(c, project, change, err)
			}
			if j.othersUse(c, clients, project) {
				continue
			}
			change, err = j.files.RemoveSkill(c, project)
			if err != nil || change.Action == setup.Remove {
				j.planned(c, project, change, err)
			}
		}
	}
	if len(j.results) == 0 {
		if j.json {
			return j.report(ctx)
		}
		return j.printf("No client has an entry named %s.", setup.EntryName)
	}
	what := "Remove sequent from " + draw.Count(j.changes(), "file", "files") + "?"
	if err := j.agree(ctx, what); err != nil || j.plan {
		return err
	}
	j.apply()
	return j.report(ctx)
}

// addSkill plans to install the skill for those of the clients that read skills.
func (j *setupJob) addSkill(clients []setup.Client) error {
	some := false
	for _, c := range clients {
		if c.Skills == "" {
			continue
		}
		some = true
		change, err := j.files.AddSkill(c, j.project)
		j.planned(c, j.project, change, err)
	}
	if !some {
		return &usageError{msg: "none of these clients is known to read skills", fix: "omit --with-skill"}
	}
	return nil
}

// othersUse reports whether a client that is not chosen has an entry and shares the skill of
// c.
func (j *setupJob) othersUse(c setup.Client, chosen []setup.Client, project bool) bool {
	return slices.ContainsFunc(setup.Clients(), func(other setup.Client) bool {
		if !c.SharesSkill(other) || slices.ContainsFunc(chosen, func(c setup.Client) bool { return c.ID == other.ID }) {
			return false
		}
		_, used, err := j.files.Read(other, project)
		return used && err == nil
	})
}
