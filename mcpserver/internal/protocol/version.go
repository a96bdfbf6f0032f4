package protocol

// FirstModern is the first version of the protocol without a handshake: the _meta of each
// request has everything that a server needs.
const FirstModern = "2026-07-28"

// LastHandshake is the newest version of the protocol with a handshake.
const LastHandshake = "2025-11-25"

// Versions returns the versions of the protocol that are served, newest first. 2025-03-26 is not
// one of them: it demands batches, which no other version has.
func Versions() []string {
	return []string{FirstModern, LastHandshake, "2025-06-18", "2024-11-05"}
}
