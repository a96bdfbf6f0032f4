package command

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"

	"github.com/sequent-dev/sequent/internal/app"
)

// pager returns the command of the pager, or "" if the output is not paged: SEQUENT_PAGER,
// otherwise PAGER, otherwise less if it is installed. The pager cat means none, as in git.
func (p *program) pager() string {
	if !p.pages || p.json || !isTerminal(p.out) || p.getenv("TERM") == "dumb" {
		return ""
	}
	for _, name := range []string{"SEQUENT_PAGER", "PAGER"} {
		switch pager := p.getenv(name); pager {
		case "":
		case "cat":
			return ""
		default:
			return pager
		}
	}
	if _, err := exec.LookPath("less"); err != nil {
		return ""
	}
	return "less"
}

// paginate writes text, in a pager if there is one for the output and the text has more lines than the
// terminal.
func (p *program) paginate(text string, lines int) error {
	pager := p.pager()
	if pager != "" && lines >= heightOf(p.out) {
		started, err := p.runPager(pager, strings.NewReader(text))
		if started {
			return err
		}
		p.tell("sequent: the pager %q cannot be run; set SEQUENT_PAGER to another one, or to cat", pager)
	}
	_, err := io.WriteString(p.out, text)
	return err
}

// runPager shows text in a pager and waits for its end. How it ends is no error, and it
// may end before it has read everything.
func (p *program) runPager(pager string, text io.Reader) (started bool, err error) {
	const notExecutable, notFound = 126, 127 // exit codes of a shell
	cmd, err := pagerCommand(pager)
	if err != nil {
		return false, err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = text, p.out, p.err
	cmd.Env = os.Environ()
	for name, value := range map[string]string{"LESS": "FRX", "LV": "-c"} { // as git does
		if _, set := os.LookupEnv(name); !set {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	if err := cmd.Start(); err != nil {
		return false, err
	}
	// Ctrl-C is for the pager, which stays: the terminal would be left to the shell and
	// the pager together.
	signal.Ignore(os.Interrupt)
	err = cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		code := exit.ExitCode()
		return code != notExecutable && code != notFound, nil
	}
	return true, nil
}

// pagerCommand returns the command of a pager, which a shell parses where there is one.
func pagerCommand(pager string) (*exec.Cmd, error) {
	if runtime.GOOS != "windows" {
		return exec.Command("sh", "-c", pager), nil
	}
	words, err := app.SplitWords(pager)
	if err != nil || len(words) == 0 {
		return nil, errors.Join(err, errors.New("the pager is empty"))
	}
	return exec.Command(words[0], words[1:]...), nil
}
