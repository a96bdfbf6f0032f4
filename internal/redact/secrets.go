package redact

import (
	_ "embed"
	"regexp"
	"strconv"
	"strings"

	"github.com/sequent-dev/sequent/internal/lazyregexp"
)

//go:generate go run generate.go
var (
	//go:embed gitleaks.tsv
	gitleaks string
	//go:embed tokens.tsv
	tokens string
)

// A rule finds secrets of one form. Only the parts of a text around its words are
// compared with its expression, which is compiled when the first of them is found.
type rule struct {
	name      string
	words     []string              // in lower case; each match has one of them
	expr      func() *regexp.Regexp // the first group that matches, or the whole match, is the secret
	begins    bool                  // every match begins with one of the words
	separated bool                  // no letter, digit or underscore precedes a match
	entropy   float64               // minimum of bits a byte of the secret
	accepts   func(match, secret string) bool
}

// tabled returns the rules of our own table and of gitleaks: name, entropy, words and expression.
func tabled() (rules []rule) {
	for line := range strings.SplitSeq(tokens+gitleaks, "\n") {
		f := strings.Split(line, "\t")
		if len(f) != 4 {
			continue // a comment
		}
		r := rule{name: f[0], words: strings.Fields(f[2])}
		if f[1] == "digit" {
			r.accepts = hasDigit
		}
		r.entropy, _ = strconv.ParseFloat(f[1], 64)
		begin, separated := strings.CutPrefix(strings.TrimPrefix(f[3], "(?i)"), `\b`)
		begin = strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(begin, "("), `\`, ""))
		if strings.HasPrefix(begin, "^") {
			r.begins, r.separated = true, true
		} else if len(r.words) == 1 && strings.HasPrefix(begin, r.words[0]) {
			r.begins, r.separated, f[3] = true, separated, "^(?:"+f[3]+")"
		}
		r.expr = lazyregexp.New(f[3])
		rules = append(rules, r)
	}
	return rules
}

// The names that secrets are assigned to end with one of these words.
const secretNames = "password passwd passphrase pwd secret token apikey api_key api-key accesskey access_key access-key accountkey account_key " +
	"account-key authkey auth_key auth-key privatekey private_key private-key secretkey secret_key secret-key signingkey signing_key signing-key " +
	"encryptionkey encryption_key encryption-key"

// assigned matches the end of a name and what is assigned to it, such as PGPASSWORD=x,
// "api_key": "x" or x-api-key: x.
var assigned = `(?i)^(?:` + strings.ReplaceAll(secretNames, " ", "|") + `)\d{0,2}\\{0,3}["'\x60]?\s{0,3}(?:=>|:=|=|:)\s{0,3}(?:` +
	`\\{0,3}"([^"\\\n]{4,512})["\\]|\\{0,3}'([^'\\\n]{4,512})['\\]|\x60([^\x60\n]{4,512})\x60|([^\s"'\x60\\,;&<>(){}\[\]|]{4,512}))`

// shapeless returns the rules for secrets that have no form of their own.
func shapeless() []rule {
	return []rule{
		{name: "value of a secret's name", words: strings.Fields(secretNames), begins: true, expr: lazyregexp.New(assigned), accepts: isAssigned},
		{name: "password in a URL", words: []string{"://"}, begins: true, expr: lazyregexp.New(`^://[^\s/:@"'<>\[]*:([^\s"'<>]{4,512})@[\w\[.]`), accepts: isURLPassword},
		{name: "private key", words: []string{"-----begin"}, begins: true, expr: lazyregexp.New(
			`^-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|\z)`)},
	}
}
