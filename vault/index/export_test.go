package index

// SetLinkBudget sets how many links a call of Context may visit.
func (x *Index) SetLinkBudget(n int) { x.work.links = n }
