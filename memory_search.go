package sequent

import "context"

// Search implements [Store].
func (m *MemoryStore) Search(ctx context.Context, q SearchQuery) (Hits, error) {
	return Hits{}, &Error{Code: CodeUnavailable, Msg: "search is being built"}
}
