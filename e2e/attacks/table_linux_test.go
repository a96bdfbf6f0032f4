package attacks

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/sqlite"
)

// ownersFolder is the folder of mallory's notes in the vault.
const ownersFolder = ".owners/of-mallory"

// mallory's sessions. Each is as large as the limits allow in one way.
const (
	bulky    = "bulky"    // 15 MiB of text
	chain    = "chain"    // 100,000 thoughts, each of which replaces one
	branched = "branched" // 1,000 branches
	late     = "late"     // 1,000 branches from the end of 60,000 thoughts
	controls = "controls" // 15 MiB of characters that JSON escapes
	file     = "file"     // nearly 2 MiB as JSON escapes them, on 900 branches, which an export may have
	large    = "large"    // nearly 10 MiB, which an export may have but as HTML
	lines    = "lines"    // thoughts of many short lines
	sentence = "sentence" // thoughts of one long sentence
	short    = "short"    // thoughts of the shortest sentences
	markdown = "markdown" // nearly 2 MiB of marks of Markdown
	finals   = "finals"   // thoughts that conclude, one after the other
	others   = 2000       // sessions that resemble each other
)

// fill makes mallory's sessions.
func fill(t *testing.T, path string) {
	t.Helper()
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: path, Sync: sqlite.Normal})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	e := sequent.New(sequent.Config{Store: store}).Owned("mallory")
	begin := func(id string, n int, draft func(i int) sequent.Draft) {
		const batch = 2000
		for first := 0; first < n; first += batch {
			_, err := e.Ensure(t.Context(), sequent.ID(id), func(c *sequent.Change) error {
				for i := first; i < min(n, first+batch); i++ {
					d := draft(i)
					if d.Number == 0 {
						d.Number = i + 1
					}
					if _, err := c.Append(d); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	words := strings.Repeat("a plan of some words and numbers, 12. ", 65_000/38)
	begin(bulky, 250, func(i int) sequent.Draft { return sequent.Draft{Text: fmt.Sprint(i, " ", words)} })
	begin(chain, 99_990, func(i int) sequent.Draft {
		d := sequent.Draft{Text: fmt.Sprintf("step %d assumes it.", i)}
		if i > 0 {
			d.Revises = sequent.To(i)
			d.Revision = true
		}
		return d
	})
	begin(branched, 3000, func(i int) sequent.Draft {
		d := sequent.Draft{Text: fmt.Sprintf("branch-%d or branch-%d? ", i%1000, i%999) + strings.Repeat("word ", 900), Number: i + 2}
		if i > 0 {
			d.Branch, d.From = fmt.Sprintf("branch-%d", i%1000), sequent.To(2)
		}
		return d
	})
	for i := range 4 {
		begin(fmt.Sprint("grown-", i), 3000, func(i int) sequent.Draft {
			d := sequent.Draft{Text: "word", Number: i + 2}
			if i > 0 {
				d.Branch, d.From = fmt.Sprintf("branch-%d", i%1000), sequent.To(2)
			}
			return d
		})
	}
	begin(late, 62_000, func(i int) sequent.Draft {
		d := sequent.Draft{Text: fmt.Sprint(i)}
		if i >= 60_000 {
			d.Branch, d.From = fmt.Sprintf("branch-%d", i%1000), sequent.To(60_000)
		}
		return d
	})
	begin(controls, 240, func(int) sequent.Draft { return sequent.Draft{Text: strings.Repeat("\x01<", 32_000)} })
	begin(file, 1150, func(i int) sequent.Draft {
		d := sequent.Draft{Text: fmt.Sprintf("branch-%d or branch-%d? ", i%900, i%899) + strings.Repeat("\x01<", 100), Number: i + 2}
		if i > 0 {
			d.Branch, d.From = fmt.Sprintf("branch-%d", i%900), sequent.To(2)
		}
		return d
	})
	begin(large, 155, func(int) sequent.Draft { return sequent.Draft{Text: words} })
	begin(lines, 6, func(int) sequent.Draft { return sequent.Draft{Text: strings.Repeat("a\n", 31_500)} })
	begin(sentence, 240, func(int) sequent.Draft { return sequent.Draft{Text: strings.Repeat("ab", 32_000)} })
	begin(short, 240, func(int) sequent.Draft { return sequent.Draft{Text: strings.Repeat("So. ", 16_000)} })
	begin(markdown, 29, func(int) sequent.Draft {
		return sequent.Draft{Text: of(of("[", 99)+"\n\n", 64_000)}
	})
	begin(finals, 240, func(int) sequent.Draft { return sequent.Draft{Text: strings.Repeat("so. ", 16_000), Final: true} })
	for i := range others {
		begin(fmt.Sprint("other-", i), 1, func(int) sequent.Draft {
			return sequent.Draft{Text: fmt.Sprintf("We assume that the cache of service %d is cold. Why is it slow? See sequent://sessions/other-%d.", i%50, i/2)}
		})
	}
}

func recall(arguments string) request { return call("/mcp", "recall_thinking", arguments) }

func read(id, suffix string) request {
	uri := "sequent://sessions/" + id + suffix
	return request{endpoint: "/mcp", method: "resources/read", name: uri, body: fmt.Sprintf(`"uri":%q`, uri)}
}

// grow adds a long thought to one of the sessions that are there to grow: what a row writes
// must neither fill a session nor change those that others read.
func grow(i int) request {
	return call("/mcp", "sequentialthinking", fmt.Sprintf(`"thought":%q,"nextThoughtNeeded":true,"sessionId":"grown-%d"`, of("word ", 64_000), i))
}

func api(path string) request { return request{endpoint: "/api/v1/" + path} }

func refused(code string, r request) request {
	r.refused = code
	return r
}

func of(text string, bytes int) string { return strings.Repeat(text, bytes/len(text)) }

func write(content string) request {
	return call("/mcp/wiki", "memory", fmt.Sprintf(`"action":"write","uri":"memory://note-{n}","content":%q`, content))
}

// hostile are texts of Markdown, of a megabyte each, that take most.
var hostile = []string{"[", "[[", "- a\n", "> a\n\n", "|a|b|\n", "`a` ", "<a b='", "[a](b ", "# a\n", "*a_ ", "a\n"}

func hostileNotes() map[string]string {
	notes := linkedNotes()
	for i, text := range hostile {
		notes[fmt.Sprintf("hostile-%d.md", i)] = "[[a]] |a|b|\n|-|-|\n" + of(text, 1_000_000)
	}
	for i := range 11 { // only their size is read
		notes[filepath.Join("too", "large", fmt.Sprintf("%d.md", i))] = of("[", 4_000_000)
	}
	notes["too-many-links.md"] = of("[[a]] ", 1_000_000)
	return notes
}

// linkedNotes are notes of nearly as many links as a note may have.
func linkedNotes() map[string]string {
	notes := make(map[string]string)
	for i := range 8 {
		notes[fmt.Sprintf("links-%d.md", i)] = linked("[[concept %d of the vault]] ", 9_900)
	}
	return notes
}

func linked(form string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, form, i)
	}
	return b.String()
}

// costs has a row for each kind of request of the table in docs/security.md.
var costs = []cost{
	{name: "thought", cpu: 100 * time.Millisecond, calls: []request{
		call("/mcp", "sequentialthinking", fmt.Sprintf(`"thought":%q,"nextThoughtNeeded":true,"thoughtNumber":1`, of("a\n", 64_000))),
		grow(0), grow(1), grow(2), grow(3),
		call("/mcp", "sequentialthinking", fmt.Sprintf(`"thought":"x","nextThoughtNeeded":true,"thoughtNumber":1,"branchId":%q`, "a")), // half a branch

	}},
	{name: "thought beyond limits", cpu: 100 * time.Millisecond, calls: []request{
		refused("LIMIT_EXCEEDED", call("/mcp", "sequentialthinking", fmt.Sprintf(`"thought":%q,"nextThoughtNeeded":true`, of("[", 3_900_000)))),
	}},
	{name: "history", cpu: 250 * time.Millisecond, calls: []request{
		call("/mcp/history", "sequentialthinking", fmt.Sprintf(`"thought":"x","nextThoughtNeeded":true,"thoughtNumber":501,"totalThoughts":501,"sessionId":%q`, lines)),
		call("/mcp/history", "sequentialthinking", fmt.Sprintf(`"thought":"x","nextThoughtNeeded":true,"thoughtNumber":501,"totalThoughts":501,"sessionId":%q`, bulky)),
	}},
	{name: "recall", cpu: 2 * time.Second, calls: []request{
		recall(`"sessionId":"` + lines + `"`), recall(`"sessionId":"` + lines + `","maxTokens":100000`),
		recall(`"sessionId":"` + bulky + `","maxTokens":1000000`), recall(`"sessionId":"` + bulky + `","view":"outline","maxTokens":1000000`),
		recall(`"sessionId":"` + chain + `","maxTokens":1000000`), recall(`"sessionId":"` + chain + `","view":"outline","maxTokens":1000000`),
		recall(`"sessionId":"` + branched + `","maxTokens":1000000`), recall(`"sessionId":"` + sentence + `","maxTokens":1000000`),
		recall(`"sessionId":"` + sentence + `","view":"outline"`), recall(`"sessionId":"` + late + `","maxTokens":1000000`), recall(`"sessionId":"` + controls + `","maxTokens":1000000`),
		recall(`"sessionId":"` + finals + `","maxTokens":20000`), recall(`"sessionId":"` + short + `","maxTokens":1000000`), recall(`"sessionId":"` + short + `","maxTokens":20000`),
	}},
	{name: "brief", cpu: 2 * time.Second, calls: []request{prompt(lines), prompt(bulky), prompt(chain), prompt(branched), prompt(sentence), prompt(short)}},
	{name: "search", cpu: 2 * time.Second, calls: []request{
		recall(`"query":"plan words numbers","limit":200,"maxTokens":1000000`),
		recall(`"query":"step assumes it","limit":200`),
		recall(fmt.Sprintf(`"query":%q,"limit":200`, linked("w%d ", 60))),
		recall(fmt.Sprintf(`"query":%q,"sessionId":%q`, "ste* assu* wor* pla*", chain)),
		refused("query", recall(fmt.Sprintf(`"query":%q`, linked("word%d ", 1000)))),
		api("search?q=" + "plan+of+some+words&limit=200"),
	}},
	{name: "list", cpu: 100 * time.Millisecond, calls: []request{recall(`"limit":200,"maxTokens":1000000`), api("sessions?limit=200")}},
	{name: "analyze", cpu: 3 * time.Second, calls: []request{
		call("/mcp/status", "analyze_thinking", `"limit":50`), call("/mcp/status", "analyze_thinking", `"query":"cache slow","limit":50`),
	}},
	{name: "document", cpu: 2 * time.Second, calls: []request{
		read(lines, ""), refused("larger", read(bulky, "")), refused("larger", read(chain, "")), read(lines, "/json"),
		refused("larger", read(branched, "/mermaid")), refused("larger", read(chain, "/mermaid")),
		refused("larger", read(bulky, "/json")),
	}},
	{name: "export html", cpu: 2 * time.Second, calls: exports("html")},
	{name: "export md", cpu: 2 * time.Second, calls: exports("md")},
	{name: "export json", cpu: 2 * time.Second, calls: exports("json")},
	{name: "export mermaid", cpu: 2 * time.Second, calls: exports("mermaid")},
	{name: "viewer", cpu: 2 * time.Second, calls: []request{
		api("session?id=" + chain), api("session?id=" + chain + "&line="), api("article?id=" + markdown), api("article?id=" + chain), api("article?id=" + branched), api("article?id=" + controls), api("session?id=" + bulky), api("session?id=" + controls),
		api("session?id=" + branched), api("session?id=" + branched + "&line=branch-7"), api("session?id=" + late + "&line=branch-7"),
	}},
	{name: "log", cpu: time.Second, calls: []request{
		{endpoint: "/api/v1/store/load", body: `{"Key":{"Owner":"mallory","ID":"` + bulky + `"}}`},
		{endpoint: "/api/v1/store/load", body: `{"Key":{"Owner":"mallory","ID":"` + chain + `"}}`},
		{endpoint: "/api/v1/store/load", body: `{"Key":{"Owner":"mallory","ID":"` + controls + `"}}`},
		{endpoint: "/api/v1/store/list", body: `{"Owner":"mallory","Limit":1000}`},
		{endpoint: "/api/v1/store/search", body: `{"Owner":"mallory","Text":"plan words","Limit":1000}`},
	}},
	{name: "note", cpu: 250 * time.Millisecond, calls: []request{
		refused("NOTE_TOO_LARGE", write("[[a]] "+of("[", 2_000_000))), refused("NOTE_TOO_LARGE", write("[[a]] "+of("[", 3_900_000))),
		refused("NOTE_TOO_LARGE", write(of("[[a]] ", 1_900_000))), refused("NOTE_TOO_LARGE", write(of("[[a]] ", 900_000))),
		write("[[a]]\n\n|a|b|\n|-|-|\n" + of("|a|b|\n", 900_000)), write("[[a]] " + of("[", 900_000)), write(of("[[a]] ", 59_000)),
	}},
	{name: "vault", cpu: 8 * time.Second, notes: hostileNotes(), calls: []request{
		call("/mcp/wiki", "sync", ``),
		call("/mcp/wiki", "search_memories", fmt.Sprintf(`"query":%q,"pageSize":100`, linked("[[concept %d of the vault]] ", 12))),
		call("/mcp/wiki", "build_context", `"conceptName":"concept 1 of the vault","depth":10,"maxEntities":1000,"includeContent":true`),
		call("/mcp/wiki", "memory", `"action":"read","uri":"memory://hostile-2","maxTokens":100000`),
	}},
	{name: "thought with links", cpu: 250 * time.Millisecond, notes: linkedNotes(), calls: []request{
		call("/mcp/wiki", "sequential_thinking", fmt.Sprintf(`"response":%q,"nextThoughtNeeded":true,"thoughtNumber":0,"totalThoughts":9`, linked("[[new %d]] ", 4_500))),
		call("/mcp/wiki", "sequential_thinking", fmt.Sprintf(`"response":%q,"nextThoughtNeeded":true,"thoughtNumber":0,"totalThoughts":9`, "[[a]] "+of("[", 60_000))),
	}},
}

func prompt(id string) request {
	return request{endpoint: "/mcp", method: "prompts/get", name: "resume", body: fmt.Sprintf(`"name":"resume","arguments":{"session":%q}`, id)}
}

func exports(format string) (all []request) {
	for _, id := range []string{bulky, chain, branched, lines, controls, late, file, large} {
		r := api("export?id=" + id + "&format=" + format)
		if id != lines && id != file && (id != large || format == "html") {
			r = refused("limit_exceeded", r)
		}
		all = append(all, r)
	}
	return all
}
