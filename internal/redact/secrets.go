package redact

import "regexp"

// Secrets returns patterns of keys, tokens and passwords that are recognisable by their
// form. The providers document these forms for scanners.
func Secrets() []Pattern {
	table := []struct{ name, expr string }{
		{"AWS access key ID", `\b(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}\b`},
		{"AWS secret access key", `(?i)(?:aws|secret)[a-z0-9_ .-]{0,24}["']?\s{0,3}[:=]\s{0,3}["']?([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+]|$)`},
		{"GitHub token", `\bgh[pousr]_[A-Za-z0-9]{36,255}`},
		{"GitHub token", `\bgithub_pat_[A-Za-z0-9_]{22,255}`},
		{"GitLab token", `\bgl(?:pat|dt|rt|cbt|ptt|ft|soat)-[A-Za-z0-9_-]{20,}`},
		{"Slack token", `\bxox[abceprs]-[A-Za-z0-9-]{10,}`},
		{"Slack token", `\bxapp-[0-9]-[A-Za-z0-9-]{10,}`},
		{"Slack webhook", `https://hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9/_-]{20,}`},
		{"Google API key", `\bAIza[0-9A-Za-z_-]{35}`},
		{"Google OAuth secret", `\bGOCSPX-[0-9A-Za-z_-]{20,}`},
		{"Google access token", `\bya29\.[0-9A-Za-z_-]{20,}`},
		{"Anthropic key", `\bsk-ant-[A-Za-z0-9_-]{20,}`},
		{"OpenAI key", `\bsk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{20,}`},
		{"Hugging Face token", `\bhf_[A-Za-z0-9]{30,}`},
		{"npm token", `\bnpm_[A-Za-z0-9]{36}`},
		{"Stripe key", `\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}`},
		{"sequent token", `\bsequent_[A-Z2-7]{26}`},
		{"private key", `-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|\z)`},
		{"JSON Web Token", `\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`},
		{"bearer token", `(?i)\bbearer\s+([A-Za-z0-9._~+/-]{20,}=*)`},
		{"password in a URL", `\b[a-zA-Z][a-zA-Z0-9+.-]*://[^\s/:@"'<>]*:([^\s/@"'<>]+)@`},
	}
	patterns := make([]Pattern, len(table))
	for i, s := range table {
		patterns[i] = Pattern{Name: s.name, Expr: regexp.MustCompile(s.expr)}
	}
	return patterns
}
