package limits

import "context"

// A Turn is the unit of [Heavy] that a request may hold, one at most. A nil Turn is that of a
// client without limits. It is not safe for concurrent use.
type Turn struct {
	client *Client
	held   bool
}

// Turn returns a turn that holds nothing; nil for a nil Client.
func (c *Client) Turn() *Turn {
	if c == nil {
		return nil
	}
	return &Turn{client: c}
}

// Take waits for a unit as [Client.Wait] does, unless the turn holds one.
func (t *Turn) Take(ctx context.Context) error {
	if t == nil || t.held {
		return nil
	}
	err := t.client.Wait(ctx, Heavy)
	t.held = err == nil
	return err
}

// Give gives back the unit, if the turn holds one.
func (t *Turn) Give() {
	if t != nil && t.held {
		t.held = false
		t.client.Give(Heavy)
	}
}
