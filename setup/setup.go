package setup

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"
)

// A Setup changes the configuration files of clients.
type Setup struct {
	System System
	Data   string // directory for copies of files and for receipts
	Now    func() time.Time
}

// An Action is what a change does to a file.
type Action string

// The values of Action.
const (
	Add    Action = "add"    // insert the entry
	Update Action = "update" // change the entry
	Keep   Action = "keep"   // nothing: the entry is as it should be, or is not there
	Remove Action = "remove" // take the entry out
)

// A Change is a change of one file that has been checked and can be applied.
type Change struct {
	Client  Client
	Project bool
	File    string
	Action  Action
	Creates bool // the file does not exist
	Deletes bool // the file was created for the entry and has nothing else
	Skill   bool // the file is the skill, not a configuration
	Server  Server
	Copy    string // of the file before the change; set by Apply

	file   configFile
	after  []byte
	undo   receipt // to keep; without text it is removed
	replan func() (Change, error)
}

// Before returns the content of the file before the change.
func (c Change) Before() []byte { return c.file.text }

// After returns the content of the file after the change.
func (c Change) After() []byte { return c.after }

// open reads the file of a client.
func (s Setup) open(c Client, file string) (document, error) {
	f, err := readFile(file)
	if err != nil {
		return document{}, &FileError{File: file, Err: err}
	}
	d, err := c.parse(f)
	if err != nil {
		return document{}, &FileError{File: file, Err: err}
	}
	return d, nil
}

// Read returns what the client's entry says, as the client reads it. It reports false if
// the file or the entry does not exist.
func (s Setup) Read(c Client, project bool) (Server, bool, error) {
	all, err := s.Entries(c, project)
	server, ok := all[EntryName]
	return server, ok, err
}

// Entries returns all servers in the file of a client, by name. Those that name neither a
// program nor a URL are omitted. It returns none if the file does not exist.
func (s Setup) Entries(c Client, project bool) (map[string]Server, error) {
	file := s.System.File(c, project)
	if file == "" {
		return nil, nil
	}
	d, err := s.open(c, file)
	if err != nil {
		return nil, err
	}
	all := make(map[string]Server)
	for name, entry := range objectAt(d.doc, c.Servers) {
		if entry, ok := entry.(map[string]any); ok {
			if server, ok := decode(entry); ok {
				all[name] = server
			}
		}
	}
	return all, nil
}

// Snippet returns an entry as a whole file, for people who paste it.
func (s Setup) Snippet(c Client, project bool, server Server) (string, error) {
	fields, err := c.fields(server, project)
	if err != nil {
		return "", err
	}
	e, err := syntaxes[c.Format].insert(nil, append(slices.Clone(c.Servers), EntryName), fields)
	return string(e.new), err
}

// Add plans to write the entry of a server into the file of a client. Members of an
// existing entry that say nothing about how to reach the server stay.
func (s Setup) Add(c Client, project bool, server Server) (Change, error) {
	file := s.System.File(c, project)
	if file == "" {
		return Change{}, fmt.Errorf("%s has no configuration file for projects", c.Name)
	}
	fields, err := c.fields(server, project)
	if err != nil {
		return Change{}, err
	}
	d, err := s.open(c, file)
	if err != nil {
		return Change{}, err
	}
	after, undo, err := d.add(fields, s.receipt(file))
	if err != nil {
		return Change{}, &FileError{File: file, Err: err}
	}
	undo.File = file
	change := Change{
		Client: c, Project: project, File: file, Action: Update, Server: server, Creates: !d.exists,
		file: d.configFile, after: after, undo: undo,
		replan: func() (Change, error) { return s.Add(c, project, server) },
	}
	switch {
	case d.entry == nil:
		change.Action = Add
	case bytes.Equal(after, d.text):
		change.Action = Keep
	}
	return change, nil
}

// Remove plans to take the entry out of the file of a client. A file that was created for
// the entry is removed.
func (s Setup) Remove(c Client, project bool) (Change, error) {
	file := s.System.File(c, project)
	change := Change{Client: c, Project: project, File: file, Action: Keep}
	if file == "" {
		return change, nil
	}
	d, err := s.open(c, file)
	if err != nil {
		return Change{}, err
	}
	change.file, change.after = d.configFile, d.text
	if d.entry == nil {
		return change, nil
	}
	r := s.receipt(file)
	var undone bool
	if change.after, undone, err = d.remove(r); err != nil {
		return Change{}, &FileError{File: file, Err: err}
	}
	change.Action = Remove
	change.Deletes = undone && r.Created && len(change.after) == 0
	change.undo = receipt{File: file, Dirs: r.Dirs}
	change.replan = func() (Change, error) { return s.Remove(c, project) }
	return change, nil
}

// maxAttempts limits how often a change is planned anew because another program has changed
// the file in the meantime.
const maxAttempts = 5

// Apply makes a change. It keeps a copy of the file first. If another program has changed
// the file since the plan, Apply plans again.
func (s Setup) Apply(c Change) (Change, error) {
	for attempt := 1; ; attempt++ {
		if c.Action == Keep {
			return c, nil
		}
		err := s.apply(&c)
		if err == nil {
			return c, nil
		}
		if !errors.Is(err, errChanged) || attempt == maxAttempts {
			return c, &FileError{File: c.File, Err: err}
		}
		if c, err = c.replan(); err != nil {
			return c, err
		}
	}
}

func (s Setup) apply(c *Change) (err error) {
	if c.file.exists {
		if c.Copy, err = s.keepCopy(c.file); err != nil {
			return fmt.Errorf("keep a copy: %w", err)
		}
	}
	dirs := c.undo.Dirs
	if c.Action != Remove {
		if c.Creates {
			if c.undo.Dirs, err = makeDirs(c.file.path); err != nil {
				return err
			}
		}
		if err := s.keepReceipt(c.undo); err != nil {
			return err
		}
	}
	mode := fs.FileMode(0o600)
	if c.Project {
		mode = 0o644 // shared with others, and without secrets
	}
	if c.Deletes {
		err = c.file.remove(dirs)
	} else {
		err = c.file.replace(c.after, mode)
	}
	if err == nil && c.Action == Remove {
		err = s.keepReceipt(receipt{File: c.File})
	}
	return err
}

// Diff returns the lines that a change removes and adds, with - and + before them. It returns
// none for the skill, which changes as a whole.
func (c Change) Diff() []string {
	if c.Skill {
		return nil
	}
	before, after := lines(c.file.text), lines(c.after)
	for len(before) > 0 && len(after) > 0 && before[0] == after[0] {
		before, after = before[1:], after[1:]
	}
	for len(before) > 0 && len(after) > 0 && before[len(before)-1] == after[len(after)-1] {
		before, after = before[:len(before)-1], after[:len(after)-1]
	}
	var diff []string
	for _, line := range before {
		diff = append(diff, "- "+line)
	}
	for _, line := range after {
		diff = append(diff, "+ "+line)
	}
	return diff
}

func lines(text []byte) (all []string) {
	for line := range strings.Lines(string(text)) {
		all = append(all, strings.TrimRight(line, "\r\n"))
	}
	return all
}
