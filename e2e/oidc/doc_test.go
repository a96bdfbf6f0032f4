// Package oidc_test signs in to the program through a real identity provider, with clients as
// people use them.
package oidc_test
