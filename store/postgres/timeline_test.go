package postgres

import "testing"

func TestTimelines(t *testing.T) {
	t.Parallel()
	var seen timelines
	for _, step := range []struct {
		system, timeline string
		want             bool
	}{
		{"1", "00000001", true},
		{"1", "00000002", true},
		{"1", "00000002", true},
		{"1", "00000001", false}, // the primary before the failover
		{"1", "0000000A", true},
		{"1", "00000009", false},
		{"2", "00000001", true}, // the store was moved to another server
		{"2", "00000001", true},
	} {
		if err := seen.use(step.system, step.timeline); (err == nil) != step.want {
			t.Errorf("server %s, timeline %s: got %v, want admission %v", step.system, step.timeline, err, step.want)
		}
	}
}
