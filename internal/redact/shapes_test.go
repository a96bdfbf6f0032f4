package redact_test

import (
	"encoding/base64"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/redact"
)

// A shape is a text with a secret, which stands between « and ».
type shape struct{ name, text string }

const (
	digits = "0123456789"
	hex    = digits + "abcdef"
	small  = "abcdefghijklmnopqrstuvwxyz"
	large  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	alnum  = digits + small + large
	base32 = large + "234567"
	url64  = alnum + "-_"
	std64  = alnum + "+/"
)

// shapes returns the forms that providers publish, each with random values. Prefixes are
// put together from parts, so that no scanner takes this file for a leak.
func shapes(rng *rand.Rand) []shape {
	r := func(set string, n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = set[rng.IntN(len(set))]
		}
		return string(b)
	}
	key := func(parts ...string) string { return "«" + strings.Join(parts, "") + "»" }
	lines := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteString(r(std64, 64) + "\n")
		}
		return b.String()
	}
	pem := func(kind string) string {
		return "-----BEGIN " + kind + "PRIVATE " + "KEY-----\n" + lines(24) + "-----END " + kind + "PRIVATE " + "KEY-----"
	}
	jwt := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." +
		base64.RawURLEncoding.EncodeToString([]byte(`{"sub":"`+r(digits, 10)+`"}`)) + "." + r(url64, 43)
	password := r(alnum, 5) + "7" + r(alnum+"!#%*", 6)
	return []shape{
		{"AWS key id", "The key is " + key("AK", "IA", r(base32, 16)) + "."},
		{"AWS secret", "AWS_SECRET_ACCESS_KEY=" + key(r(std64, 40))},
		{"AWS session token", "aws_session_token = " + key("IQo", "Jb3JpZ2luX2Vj", r(std64, 320), "==")},
		{"GitHub classic", "Use " + key("gh", "p_", r(alnum, 36)) + ", then push."},
		{"GitHub fine-grained", key("github", "_pat_", r(alnum, 22), "_", r(alnum, 59))},
		{"GitLab", key("gl", "pat-", r(url64, 20))},
		{"Slack bot", key("xo", "xb-", r(digits, 12), "-", r(digits, 13), "-", r(alnum, 24))},
		{"Slack webhook", key("https://hooks.slack", ".com/services/T", r(large, 10), "/B", r(large, 10), "/", r(alnum, 24))},
		{"Discord webhook", "https://" + key("discord", ".com/api/webhooks/", r(digits, 18), "/", r(url64, 68))},
		{"Telegram", "The bot is " + key(r("123456789", 10), ":A", "A", r(url64, 33)) + "."},
		{"OpenAI project", key("sk-", "proj-", r(url64, 74), "T3Blbk", "FJ", r(url64, 74))},
		{"Anthropic", key("sk-", "ant-api03-", r(url64, 93), "AA")},
		{"Google API key", "?key=" + key("AI", "za", "Sy", r(url64, 33))},
		{"Hugging Face", key("h", "f_", r(alnum, 34))},
		{"npm", "//registry/:_authToken=" + key("np", "m_", r(alnum, 36))},
		{"PyPI", key("pypi", "-AgEIcHlwaS5vcmc", r(url64, 120))},
		{"Docker", "docker login -p " + key("dckr", "_pat_", r(url64, 27))},
		{"Stripe live", key("sk", "_live_", r(alnum, 24))},
		{"Stripe webhook", key("wh", "sec_", r(alnum, 32))},
		{"Twilio", "TWILIO_AUTH_TOKEN=" + key(r(hex, 32))},
		{"SendGrid", key("S", "G.", r(url64, 22), ".", r(url64, 43))},
		{"Mailgun", key("ke", "y-", r(hex, 32))},
		{"Azure storage", "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=" + key(r(std64, 86), "==") + ";EndpointSuffix=core.windows.net"},
		{"Azure AD", "The client secret was " + key(r(alnum, 3), "8", "Q~", r(alnum+"_~.-", 34)) + " until May."},
		{"DigitalOcean", key("dop", "_v1_", r(hex, 64))},
		{"Cloudflare", "CLOUDFLARE_API_TOKEN=" + key(r(url64, 40))},
		{"Shopify", key("shp", "at_", r(hex, 32))},
		{"Databricks", key("da", "pi", r(hex, 32))},
		{"Grafana", key("gl", "sa_", r(alnum, 32), "_", r(hex, 8))},
		{"Vault", key("hv", "s.", r(url64, 95))},
		{"Terraform Cloud", key(r(alnum, 14), ".atlas", "v1.", r(url64, 67))},
		{"Linear", key("lin", "_api_", r(alnum, 40))},
		{"age", key("AGE-SECRET-", "KEY-1", r("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58))},
		{"JWT", "It sent " + key(jwt) + " twice."},
		{"Bearer", "Authorization: Bearer " + key(r(alnum, 40))},
		{"Basic", "Authorization: Basic " + key(base64.StdEncoding.EncodeToString([]byte("ann:"+r(alnum, 14))))},
		{"URL", "postgres://app:" + key(password) + "@db.example/app"},
		{"URL with /", "postgres://app:" + key(r(alnum, 5), "/", r(alnum, 6)) + "@db.example:5432/app"},
		{"URL with @", "redis://:" + key(r(alnum, 5), "@", r(alnum, 6)) + "@cache.example/0"},
		{"password=", "mysql --password=" + key(password) + " -h db"},
		{"PGPASSWORD=", "PGPASSWORD=" + key(r(small, 10)) + " psql"},
		{"password in JSON", `{"user": "ann", "password": "` + key(password) + `"}`},
		{"api_key:", "api_key: " + key(r(alnum, 32))},
		{"x-api-key:", "curl -H 'x-api-key: " + key(r(alnum, 32)) + "'"},
		{"client_secret=", "grant_type=x&client_secret=" + key(r(alnum, 32)) + "&scope=a"},
		{"PEM", "The file:\n" + key(pem("RSA ")) + "\nand more"},
		{"PEM in JSON", `{"private_key": "` + key(strings.ReplaceAll(pem("")+"\n", "\n", `\n`)[:1600], strings.ReplaceAll("-----END PRIVATE "+"KEY-----", "\n", `\n`)) + `\n"}`},
		{"OpenSSH", key(pem("OPENSSH "))},
		{"our token", "SEQUENT_TOKEN is " + key("seq", "uent_", r(base32, 26))},
		{"our link", "https://think.example.com/ui/share#" + key(r(base32, 52))},
		{"our view key", "It asked with " + key(r(base32, 52)) + "."},
		{"cookie", "Cookie: " + key("session=", r(alnum, 32), "; theme=dark")},
		{"private_key_id", `"private_key_id": "` + key(r(hex, 40)) + `"`},
	}
}

// notMasked lists the forms that stay: the id of a key names it and opens nothing.
var notMasked = map[string]bool{"private_key_id": true}

// masked returns a text as an export shows it, and what was found.
func masked(t *testing.T, text string) (string, []redact.Finding) {
	t.Helper()
	thoughts := []sequent.Thought{{Seq: 1, Draft: sequent.Draft{Text: text}}}
	_, entries, found, err := redact.Session(t.Context(), sequent.Header{}, sequent.Entries(thoughts), redact.Secrets())
	if err != nil {
		t.Fatal(err)
	}
	return entries[0].Thought.Text, found
}

// All forms but those of notMasked are masked whole, each with many random values.
func TestShapes(t *testing.T) {
	t.Parallel()
	const rounds = 20
	missed := make(map[string]int)
	for seed := range uint64(rounds) {
		list := shapes(rand.New(rand.NewPCG(seed, 53)))
		if len(list) != 53 {
			t.Fatalf("%d shapes, want 53", len(list))
		}
		for _, s := range list {
			before, rest, _ := strings.Cut(s.text, "«")
			secret, after, _ := strings.Cut(rest, "»")
			got, found := masked(t, before+secret+after)
			if notMasked[s.name] {
				if got != before+secret+after {
					t.Errorf("%s is masked, and notMasked says it is not: %s", s.name, got)
				}
				continue
			}
			if got != before+redact.Mask+after || len(found) != 1 || found[0].Count != 1 {
				missed[s.name]++
				t.Logf("%s, seed %d: %q becomes %q, %v", s.name, seed, before+secret+after, got, found)
			}
		}
	}
	for name, n := range missed {
		t.Errorf("%s: %d of %d values are not masked, or not as one", name, n, rounds)
	}
	t.Logf("%d of 53 shapes are masked", 53-len(notMasked)-len(missed))
}
