package worktree

import "path/filepath"

// Person returns the name with which git would sign a commit in a directory: user.name of
// the repository, or else of the user's configurations, of which the first one that has it
// counts. It returns "" if none has it.
func Person(dir string, configurations ...string) string {
	if t := Find(dir); t != nil {
		configurations = append([]string{filepath.Join(t.common, "config")}, configurations...)
	}
	for _, file := range configurations {
		config, err := read(file, maxFile)
		if err != nil {
			continue
		}
		name := ""
		for value := range values(config, "user", "name") {
			name = value // git takes the last one
		}
		if name != "" {
			return name
		}
	}
	return ""
}
