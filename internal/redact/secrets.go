package redact

import (
	_ "embed"
	"regexp"
	"strconv"
	"strings"

	"github.com/sequent-dev/sequent/internal/lazyregexp"
)

//go:generate go run generate.go
//go:embed gitleaks.tsv
var gitleaks string

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

// known returns the rules of gitleaks.
func known() (rules []rule) {
	for line := range strings.SplitSeq(gitleaks, "\n") {
		f := strings.Split(line, "\t")
		if len(f) != 4 {
			continue // a comment
		}
		r := rule{name: f[0], words: strings.Fields(f[2])}
		r.entropy, _ = strconv.ParseFloat(f[1], 64)
		begin, separated := strings.CutPrefix(strings.TrimPrefix(f[3], "(?i)"), `\b`)
		begin = strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(begin, "("), `\`, ""))
		if len(r.words) == 1 && strings.HasPrefix(begin, r.words[0]) {
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

// own returns the rules for forms that gitleaks lacks or recognises in part.
func own() []rule {
	prefix := func(name, words, expr string) rule {
		return rule{name: name, words: strings.Fields(words), expr: lazyregexp.New("^(?:" + expr + ")"), begins: true, separated: true}
	}
	random := func(name, words, expr string) rule {
		r := prefix(name, words, expr)
		r.accepts = hasDigit
		return r
	}
	return []rule{
		{name: "value of a secret's name", words: strings.Fields(secretNames), begins: true, expr: lazyregexp.New(assigned), accepts: isAssigned},
		{name: "password in a URL", words: []string{"://"}, begins: true, expr: lazyregexp.New(`^://[^\s/:@"'<>\[]*:([^\s"'<>]{4,512})@[\w\[.]`), accepts: isURLPassword},
		random("authorization", "bearer basic", `(?i:bearer|basic)\s+([A-Za-z0-9._~+/-]{8,}=*)`),
		prefix("cookie", "cookie set-cookie", `(?i)(?:set-)?cookie2?["']?:\s*["']?([^\s=;"']{1,64}=[^\s"';]{16,}(?:;\s*[^\s=;"']{1,64}=[^\s"';]+)*)`),
		{name: "private key", words: []string{"-----begin"}, begins: true, expr: lazyregexp.New(
			`^-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|\z)`)},
		prefix("sequent token", "sequent_", `sequent_[A-Z2-7]{26}`),
		prefix("AWS session token", "iqoj fwog fqog", `(?:IQoJ|FwoG|FQoG)[A-Za-z0-9+/]{60,}=*`),
		random("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_", `(?:gh[pousr]_|github_pat_)[A-Za-z0-9_]{22,255}`),
		random("GitLab token", "glpat- gldt- glrt- glcbt- glptt- glft- glsoat-", `gl(?:pat|dt|rt|cbt|ptt|ft|soat)-[A-Za-z0-9_-]{20,}`),
		random("Slack token", "xoxa- xoxb- xoxc- xoxe- xoxp- xoxr- xoxs- xapp-", `(?:xox[abceprs]|xapp)-[A-Za-z0-9-]{10,}`),
		prefix("webhook", "hooks.slack.com/ discord.com/api/webhooks/ discordapp.com/api/webhooks/",
			`hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9/_-]{20,}|discord(?:app)?\.com/api/webhooks/[0-9]{15,21}/[\w-]{30,}`),
		{name: "Telegram bot token", words: []string{":aa"}, expr: lazyregexp.New(`\b([0-9]{6,12}:AA[A-Za-z0-9_-]{32,34})(?:\W|$)`)},
		random("Google secret", "gocspx- ya29. aiza", `(?:GOCSPX-|ya29\.)[0-9A-Za-z_-]{20,}|AIza[0-9A-Za-z_-]{35}`),
		random("key of a model's provider", "sk-", `sk-[A-Za-z0-9_-]{20,}`),
		random("Hugging Face token", "hf_", `hf_[A-Za-z0-9]{30,}`),
		random("Docker token", "dckr_pat_ dckr_oat_", `dckr_[po]at_[A-Za-z0-9_-]{20,}`),
		random("Stripe secret", "whsec_ sk_live_ rk_live_ sk_test_ rk_test_", `(?:whsec|[sr]k_(?:live|test))_[A-Za-z0-9+/]{16,}=*`),
		random("Mailgun key", "key-", `key-[0-9a-f]{32}`),
		random("Vault token", "hvs. hvb. hvr.", `hv[sbr]\.[A-Za-z0-9_-]{20,}`),
		prefix("JSON Web Token", "eyj", `eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`),
	}
}
