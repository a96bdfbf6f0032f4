package thinking

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/lazyregexp"
)

// The labels in which a session keeps what a file shows and a [sequent.Draft]
// has no field for. A dialect sets them.
const (
	LabelAgent      = "agent"      // of a thought: who wrote it
	LabelConclusion = "conclusion" // of a thought: what it concludes with

	LabelAnalysisType = "analysisType" // of a session
	LabelParent       = "parent"       // of a session: the id of the workflow it belongs to
	LabelStatus       = "status"       // of a session: cancelled, or nothing
	LabelMissing      = "missing"      // of a session: what its conclusion lacks, with commas
	LabelVault        = "vault"        // of a session: the id of the vault with its file
)

// DefaultAgent is who wrote a thought that does not say.
const DefaultAgent = "agent"

// Folder is the folder of the vault that holds session files.
const Folder = "thinking/sequential"

var idForm = lazyregexp.New(`^session-(\d{1,15})(-[A-Za-z0-9_-]+)?$`)

const longestID = 128 // bytes

// ValidID reports whether a session of that id can have a file: its id is
// session-{unix milliseconds}, with or without -{letters, digits, - or _}, in
// at most 128 characters.
func ValidID(id sequent.ID) bool { return len(id) <= longestID && idForm().MatchString(string(id)) }

// begun returns the time that an id names.
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
	return &sequent.Error{
		Code: sequent.CodeInvalidSession, Field: "sessionId",
		Msg: fmt.Sprintf("a session with the id %q can have no file in a vault", shortened(string(id))),
		Fix: "ids are session-{unix milliseconds}, with or without a suffix",
	}
}

func shortened(s string) string {
	const most = 100
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

func agentOf(t sequent.Thought) string { return cmp.Or(t.Labels[LabelAgent], DefaultAgent) }

// conclusionOf returns what a thought concludes with. A session of a dialect that
// does not say it with the thought says it in its header.
func conclusionOf(s *sequent.Session, t sequent.Thought) string {
	if text := t.Labels[LabelConclusion]; text != "" {
		return text
	}
	if t.Seq == s.Len() && s.State() == sequent.Completed {
		return s.Conclusion()
	}
	return ""
}

// workflowLink is the parent as front matter has it.
func workflowLink(id string) string {
	if id == "" || strings.HasPrefix(id, "[[") {
		return id
	}
	return "[[workflow/" + strings.TrimPrefix(id, "workflow/") + "]]"
}

// workflowID is the parent's id of such a link.
func workflowID(link string) string {
	id := strings.TrimSuffix(strings.TrimPrefix(link, "[["), "]]")
	id, _, _ = strings.Cut(id, "|")
	return strings.TrimPrefix(id, "workflow/")
}
