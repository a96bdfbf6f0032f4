package thinking

import (
	"strconv"
	"strings"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/lazyregexp"
	"github.com/sequent-dev/sequent/internal/printable"
)

// The labels for what a file shows and a [sequent.Draft] has no field for. A dialect
// sets them.
const (
	LabelAgent      = "agent"      // of a thought: its author
	LabelConclusion = "conclusion" // of a thought: the conclusion that comes with it

	LabelAnalysisType = "analysisType" // of a session
	LabelParent       = "parent"       // of a session: the id of its workflow
	LabelStatus       = "status"       // of a session: cancelled, or nothing
	LabelMissing      = "missing"      // of a session: the parts that its conclusion lacks, separated by commas
	LabelVault        = "vault"        // of a session: the id of the vault with its file
)

// DefaultAgent is the author of thoughts without a LabelAgent.
const DefaultAgent = "agent"

// Folder is the folder of the vault that holds session files.
const Folder = "thinking/sequential"

var idForm = lazyregexp.New(`^session-(\d{1,15})(-[A-Za-z0-9_-]+)?$`)

const maxIDBytes = 128

// ValidID reports whether a session with that id can have a file: the id is
// session-{unix milliseconds}, optionally followed by -{letters, digits, - or _}, of at
// most 128 characters.
func ValidID(id sequent.ID) bool { return len(id) <= maxIDBytes && idForm().MatchString(string(id)) }

// begun returns the time in an id.
func begun(id sequent.ID) time.Time {
	m := idForm().FindStringSubmatch(string(id))
	if m == nil {
		return time.Time{}
	}
	ms, err := strconv.ParseInt(m[1], 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

func checkID(id sequent.ID) error {
	if ValidID(id) {
		return nil
	}
	return sequent.Errorf(sequent.CodeInvalidSession, "sessionId", "use session-{unix milliseconds}, with or without a suffix",
		"a session with the id %q cannot have a note in a vault", quoted(string(id)))
}

// quoted cuts a text for an error.
func quoted(s string) string { return printable.Short(s, 100) }

// workflowLink returns the link to a parent for front matter.
func workflowLink(id string) string {
	if id == "" || strings.HasPrefix(id, "[[") {
		return id
	}
	return "[[workflow/" + strings.TrimPrefix(id, "workflow/") + "]]"
}

// workflowID is the inverse of workflowLink.
func workflowID(link string) string {
	id := strings.TrimSuffix(strings.TrimPrefix(link, "[["), "]]")
	id, _, _ = strings.Cut(id, "|")
	return strings.TrimPrefix(id, "workflow/")
}
