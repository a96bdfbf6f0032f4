package sequent

import (
	"context"
	"slices"
)

// A memShare is a share, and the epoch of its session.
type memShare struct {
	Share
	epoch int64
}

// AddShare implements [ShareStore].
func (m *MemoryStore) AddShare(ctx context.Context, s Share) error {
	if err := ctx.Err(); err != nil {
		return canceled(err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	session, ok := m.sessions[s.Key]
	if !ok {
		return notFound(s.Key.ID)
	}
	for hash, old := range m.shares {
		if !old.Expires.After(s.Created) || !m.lives(old) {
			delete(m.shares, hash)
		}
	}
	if m.shares == nil {
		m.shares = make(map[[32]byte]memShare)
	}
	m.shares[s.Hash] = memShare{s, session.header.Epoch}
	return nil
}

// lives reports whether the session of a share exists. The caller holds mu.
func (m *MemoryStore) lives(s memShare) bool {
	session, ok := m.sessions[s.Key]
	return ok && session.header.Epoch == s.epoch
}

// Shares implements [ShareStore].
func (m *MemoryStore) Shares(ctx context.Context, q ShareQuery) ([]Share, error) {
	if err := ctx.Err(); err != nil {
		return nil, canceled(err)
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	var list []Share
	for _, s := range m.shares {
		if (q.AllOwners || s.Key.Owner == q.Owner) && (q.Session == "" || s.Key.ID == q.Session) && s.Expires.After(q.Now) && m.lives(s) {
			list = append(list, s.Share)
		}
	}
	slices.SortFunc(list, CompareShares)
	return list, nil
}

// FindShare implements [ShareStore].
func (m *MemoryStore) FindShare(ctx context.Context, hash [32]byte) (Share, error) {
	if err := ctx.Err(); err != nil {
		return Share{}, canceled(err)
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	s, ok := m.shares[hash]
	if !ok || !m.lives(s) {
		return Share{}, NoShare()
	}
	return s.Share, nil
}

// RemoveShare implements [ShareStore].
func (m *MemoryStore) RemoveShare(ctx context.Context, s Share) error {
	if err := ctx.Err(); err != nil {
		return canceled(err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if have, ok := m.shares[s.Hash]; ok && have.Key.Owner == s.Key.Owner {
		delete(m.shares, s.Hash)
	}
	return nil
}

// AddTicket implements [ShareStore].
func (m *MemoryStore) AddTicket(ctx context.Context, t Ticket) error {
	if err := ctx.Err(); err != nil {
		return canceled(err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for hash, old := range m.tickets {
		if !old.Expires.After(t.Created) {
			delete(m.tickets, hash)
		}
	}
	if m.tickets == nil {
		m.tickets = make(map[[32]byte]Ticket)
	}
	m.tickets[t.Hash] = t
	return nil
}

// TakeTicket implements [ShareStore].
func (m *MemoryStore) TakeTicket(ctx context.Context, hash [32]byte) (Ticket, error) {
	if err := ctx.Err(); err != nil {
		return Ticket{}, canceled(err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	t, ok := m.tickets[hash]
	if !ok {
		return Ticket{}, NoTicket()
	}
	delete(m.tickets, hash)
	return t, nil
}
