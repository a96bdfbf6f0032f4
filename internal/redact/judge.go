package redact

import (
	"math"
	"strings"
	"unicode"

	"github.com/sequent-dev/sequent/internal/lazyregexp"
)

// hasDigit reports whether a secret has a digit. Random texts nearly always have one, and
// words do not.
func hasDigit(_, secret string) bool { return strings.ContainsAny(secret, "0123456789") }

// isURLPassword reports whether what stands between the colon after a host or user and the
// last @ of a URL is a password. A port before a path with an @ is not a password.
func isURLPassword(_, secret string) bool {
	port, _, path := strings.Cut(secret, "/")
	return !isPlaceholder(secret) && !ordinary().MatchString(secret) && (!path || strings.Trim(port, "0123456789") != "")
}

// isPlaceholder reports whether a value stands for another one, such as $TOKEN, <token>, PASSWORD or ***.
func isPlaceholder(value string) bool {
	return strings.ContainsRune("$<{%*[(\\`", rune(value[0])) || strings.Trim(value, "x*.…-_ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// ordinary matches values that are no secrets: versions, dates, addresses, digests, paths, names in programs, and
// words that stand for a secret in examples.
var ordinary = lazyregexp.New(`(?i)^(?:v?\d+(?:\.\d+)+\S*|\d{4}-\d\d-\d\d\S*|[a-z][a-z0-9+.-]*://.*|urn:.*|sha\d+[:~-]\S*|[~.]{0,2}/\S*|` +
	`[a-z_]\w*(?:\.[a-z_]\w*)+|(?:your|my|the)?[_-]?(?:password|passwd|pass|pwd|secret|token|key|username)|string|required|optional|changeme)$`)

// isAssigned reports whether the value that a name is set to looks like a secret.
func isAssigned(match, secret string) bool {
	if isPlaceholder(secret) || ordinary().MatchString(secret) {
		return false
	}
	name := strings.ToLower(match[:strings.LastIndex(match, secret)])
	quoted := strings.ContainsAny(name[len(name)-1:], "\"'`")
	direct := quoted || !strings.ContainsFunc(name, unicode.IsSpace)
	isPassword := strings.HasPrefix(name, "pass") || strings.HasPrefix(name, "pwd")
	var letters, uppers, digits, others int
	for _, r := range secret {
		switch {
		case unicode.IsDigit(r):
			digits++
		case unicode.IsUpper(r):
			uppers++
		case unicode.IsLetter(r):
			letters++
		case !strings.ContainsRune("_-. ", r):
			others++
		}
	}
	switch {
	case digits > 0 && letters+uppers+others > 0:
		return len(secret) >= 8 || direct && len(secret) >= 6
	case digits > 0:
		return isPassword && direct && len(secret) >= 6
	case others > 0:
		return direct && len(secret) >= 8 && !strings.Contains(secret, " ")
	}
	return isPassword && direct && !quoted && letters >= 6 && uppers == 0 && !strings.ContainsAny(secret, "_.")
}

// entropy returns the bits a byte of a text.
func entropy(text string) (bits float64) {
	var count [256]int
	for i := range len(text) {
		count[text[i]]++
	}
	for _, n := range count {
		if n > 0 {
			p := float64(n) / float64(len(text))
			bits -= p * math.Log2(p)
		}
	}
	return bits
}
