package setup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"time"
)

// A Setup changes the configuration files of clients.
type Setup struct {
	System System
	Data   string // directory for copies of files
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
	replan func() (Change, error)
}

// plan returns a change of a file that does nothing yet. Links in the file of a project must not
// lead out of it: its author is not the user.
func (s Setup) plan(c Client, project bool, file string) (Change, error) {
	change := Change{Client: c, Project: project, File: file, Action: Keep}
	if file == "" {
		return change, nil
	}
	for path := file; project && path != s.System.Dir; path = filepath.Dir(path) {
		if s.System.Exists(path) && !within(path, s.System.Dir) {
			return change, &FileError{File: file, Err: errors.New("a symbolic link leads out of the project")}
		}
	}
	var err error
	if change.file, err = readFile(file); err != nil {
		return change, &FileError{File: file, Err: err}
	}
	change.after, change.Creates = change.file.text, !change.file.exists
	return change, nil
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
	change, err := s.plan(c, project, file)
	if err != nil || file == "" {
		return nil, err
	}
	d, err := c.parse(change.file.text)
	if err != nil {
		return nil, &FileError{File: file, Err: err}
	}
	all := make(map[string]Server)
	for name, entry := range d.servers {
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
	wanted, first, err := c.fields(server, project)
	if err != nil {
		return "", err
	}
	maps.Copy(wanted, first)
	text, err := syntaxes[c.Format].put(nil, c.Servers, wanted)
	return string(text), err
}

// Add plans to write the entry of a server into the file of a client. Members of an
// existing entry that say nothing about how to reach the server stay.
func (s Setup) Add(c Client, project bool, server Server) (Change, error) {
	file := s.System.File(c, project)
	if file == "" {
		return Change{}, fmt.Errorf("%s has no configuration file for projects", c.Name)
	}
	wanted, first, err := c.fields(server, project)
	if err != nil {
		return Change{}, err
	}
	change, err := s.plan(c, project, file)
	if err != nil {
		return Change{}, err
	}
	change.Server, change.replan = server, func() (Change, error) { return s.Add(c, project, server) }
	d, err := c.parse(change.file.text)
	if err != nil {
		return Change{}, &FileError{File: file, Err: err}
	}
	base, entry := d, updated(d.entry, wanted)
	switch {
	case d.entry == nil:
		change.Action = Add
		maps.Copy(entry, first)
	case reflect.DeepEqual(entry, d.entry):
		return change, nil
	default:
		change.Action = Update
		if before, ok := s.before(d, change.file.path); ok {
			base = before
		}
	}
	if change.after, err = base.put(entry); err != nil {
		return Change{}, &FileError{File: file, Err: err}
	}
	return change, nil
}

// Remove plans to take the entry out of the file of a client. If nothing else has changed since
// the entry was added, the file becomes what it was, or is removed if it did not exist. A file
// that cannot be read as one of the client is kept if the name of the entry is not in it.
func (s Setup) Remove(c Client, project bool) (Change, error) {
	change, err := s.plan(c, project, s.System.File(c, project))
	if err != nil || change.File == "" {
		return change, err
	}
	change.replan = func() (Change, error) { return s.Remove(c, project) }
	d, err := c.parse(change.file.text)
	if err != nil && bytes.Contains(change.file.text, []byte(EntryName)) {
		return Change{}, &FileError{File: change.File, Err: err}
	}
	if err != nil || d.entry == nil {
		return change, nil
	}
	change.Action = Remove
	if before, ok := s.before(d, change.file.path); ok {
		change.after, change.Deletes = before.text, before.text == nil
	} else if change.after, err = d.cut(); err != nil {
		return Change{}, &FileError{File: change.File, Err: err}
	}
	return change, nil
}

// before returns the file before the entry was added to it: the latest copy from which adding
// the entry makes the file as it is, or no text if that is what an absent file becomes. It
// reports false if there is neither, because something else has changed since.
func (s Setup) before(now document, file string) (document, bool) {
	for _, text := range append(s.copies(file), nil) {
		then, err := now.client.parse(text)
		if err != nil || then.entry != nil {
			continue
		}
		if text, err := then.put(now.entry); err == nil && bytes.Equal(text, now.text) {
			return then, true
		}
	}
	return document{}, false
}

// maxAttempts limits how often a change is planned anew because another program has changed
// the file in the meantime.
const maxAttempts = 5

// Apply makes a change. It keeps a copy of the file first. If another program has changed
// the file since the plan, Apply plans again.
func (s Setup) Apply(c Change) (Change, error) {
	for attempt := 1; c.Action != Keep; attempt++ {
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
	return c, nil
}

func (s Setup) apply(c *Change) (err error) {
	if c.file.exists {
		if c.Copy, err = s.keepCopy(c.file); err != nil {
			return fmt.Errorf("keep a copy: %w", err)
		}
	}
	if c.Deletes {
		return c.file.remove(s.System.Home, s.System.Dir)
	}
	return c.file.replace(c.after, c.Project)
}

// Diff returns the entry before a change after "- ", and the entry after it after "+ ", each as
// JSON in one line. It returns none for the skill, which changes as a whole.
func (c Change) Diff() (diff []string) {
	if c.Skill || c.Action == Keep {
		return nil
	}
	for i, text := range [][]byte{c.file.text, c.after} {
		d, err := c.Client.parse(text)
		if err != nil || d.entry == nil {
			continue
		}
		if entry, err := json.Marshal(map[string]any{EntryName: d.entry}); err == nil {
			diff = append(diff, [2]string{"- ", "+ "}[i]+string(entry[1:len(entry)-1]))
		}
	}
	return diff
}
