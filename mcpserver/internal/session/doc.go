// Package session has the state of a connection with a client: whether the handshake was
// made, the requests in progress, and the subscriptions to documents. Package method
// answers the requests.
package session
