package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/e2e/programtest"
	"github.com/sequent-dev/sequent/store/sqlite"
)

// A session with hostile texts is exported as one file, which shows it from the disk: nothing
// runs, nothing is asked for, and no text gets out of the block with the data.
func TestFile(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	program, dir := programtest.Build(t), t.TempDir()
	file := filepath.Join(dir, "sequent.db")
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: file})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	e := sequent.New(sequent.Config{Store: store})
	drafts := []sequent.Draft{{Number: 1, Text: hostile[0]}}
	for i, text := range hostile {
		drafts = append(drafts, sequent.Draft{Number: i + 2, Text: text, Note: text, Branch: fmt.Sprintf(`</script><img src=x onerror=alert(%d)>`, i), From: sequent.To(1)})
	}
	drafts = append(drafts,
		sequent.Draft{Number: 20, Text: "<!--<script> the key is AKIAIOSFODNN7EXAMPLE \u2028\u2029 </script>"},
		sequent.Draft{Number: 21, Text: hostile[1], Revises: sequent.To(1), Revision: true, Final: true})
	const id = `../<b onclick=alert(9)>"'?#&%2e`
	record(t, e, id, drafts...)
	story(t, e)
	export := func(id string, args ...string) string {
		t.Helper()
		out := filepath.Join(dir, fmt.Sprintf("export %d.html", len(args)))
		cmd := exec.Command(program, append([]string{"export", "--store", file, "-o", out, id}, args...)...)
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		return out
	}
	path := export(id, "--redact-secrets")
	p := b.open(t, "file://"+path)
	p.wait(`document.querySelectorAll('.thought').length === 11`)
	if got := eval[string](p, `document.documentElement.textContent`); strings.Contains(got, "AKIAIOSFODNN7EXAMPLE") {
		t.Error("the page has what was masked")
	}
	if got := eval[string](p, `document.querySelector('.masked').textContent`); !strings.Contains(got, "@10") {
		t.Errorf("the page says of what was masked %q", got)
	}
	if got := eval[string](p, `document.title`); !strings.HasPrefix(got, hostile[0][:20]) {
		t.Errorf("the title is %q", got)
	}
	if got := eval[int](p, `document.querySelectorAll('script, img, iframe, object, embed, link, base, form, input, body style, a[href^="javascript:"]').length`); got != 0 {
		t.Errorf("%d elements come from texts", got)
	}
	p.clean()
	p.mu.Lock()
	for _, url := range p.requests {
		if !strings.HasPrefix(url, "file://") {
			t.Errorf("the page asked for %s", url)
		}
	}
	p.mu.Unlock()

	// Without a script it is read, a link leads to a thought in what is folded, and its print has everything.
	path = export("story")
	p = b.open(t, "file://"+path)
	p.wait(`document.querySelectorAll('.thought').length === 9 && !document.querySelector('#b4 > details').open`)
	p.whole("file", 6000)
	p.run(navigate("file://" + path + "#t4"))
	p.wait(`document.querySelector('#b4 > details').open && document.querySelector('#t4:target')`)
	p.media("print")
	p.wait(`[...document.querySelectorAll('.prose, .v')].every((e) => e.checkVisibility({ contentVisibilityAuto: true }))`)
	p.media("")
	p.clean()

	// The viewer writes the same file.
	url := startView(t, program, file)
	base, key, _ := strings.Cut(url, "/ui/#key=")
	r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, base+"/api/v1/export?id=story&format=html", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+key)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	want, _ := os.ReadFile(path)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("the viewer's file has %d bytes (%v), that of the command %d", len(got), err, len(want))
	}
}

// weigh returns how many bytes a text has with gzip.
func weigh(text []byte) int {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(text) // to memory
	_ = z.Close()
	return b.Len()
}
