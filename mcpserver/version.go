package mcpserver

// FirstModern is the first version of the protocol without a handshake: the _meta of each
// request has everything that a server needs.
const firstModern = "2026-07-28"

// LastHandshake is the newest version of the protocol with a handshake.
const lastHandshake = "2025-11-25"

// versions returns the versions of the protocol that are served, newest first. 2025-03-26 is not
// one of them: it demands batches, which no other version has.
func versions() []string {
	return []string{firstModern, lastHandshake, "2025-06-18", "2024-11-05"}
}
