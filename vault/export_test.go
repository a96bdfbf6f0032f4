package vault

import "time"

// SetLockTimeout limits how long a call waits for other writers.
func (v *Vault) SetLockTimeout(d time.Duration) { v.lockTimeout = d }
