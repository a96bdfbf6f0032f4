package picture

import (
	"cmp"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the plots of docs/pictures")

// groups reads the rows of a table whose names begin with one of the given ones, and the
// values in the named columns.
func groups(t *testing.T, table [][]string, rows []string, columns ...string) (list []Group) {
	t.Helper()
	if table == nil {
		t.Fatal("the page has no such table")
	}
	for _, cells := range table[1:] {
		if rows != nil && !slices.ContainsFunc(rows, func(name string) bool { return strings.HasPrefix(cells[0], name) }) {
			continue
		}
		name, _, _ := strings.Cut(strings.Trim(cells[0], "`*"), ", ")
		g := Group{Name: name}
		for _, c := range columns {
			g.Values = append(g.Values, Value(cells[slices.Index(table[0], c)]))
		}
		list = append(list, g)
	}
	if rows != nil && len(list) != len(rows) {
		t.Fatalf("the table has %d of the rows %q", len(list), rows)
	}
	return list
}

// The plots of the documentation are those of the tables beside them, and the pages show
// them.
func TestPlots(t *testing.T) {
	docs := filepath.Join("..", "..", "docs")
	pages := make(map[string]string)
	for _, name := range []string{"benchmarks", "search-quality"} {
		text, err := os.ReadFile(filepath.Join(docs, name+".md"))
		if err != nil {
			t.Fatal(err)
		}
		pages[name] = strings.ReplaceAll(string(text), "\r\n", "\n")
	}
	subjects := []string{"reference", "memory", "SQLite, normal", "SQLite, full"}
	local := Table(pages["benchmarks"], subjects...)
	database := Table(pages["benchmarks"], "clients", "engine and store", "bare loop")
	clients := groups(t, database, nil, "engine and store", "bare loop")
	for i := range clients {
		if clients[i].Name += " client"; clients[i].Name != "1 client" {
			clients[i].Name += "s"
		}
	}
	queries := groups(t, Table(pages["search-quality"], "query", "nDCG@10", "words"), nil, "nDCG@10")
	slices.SortStableFunc(queries, func(a, b Group) int { return cmp.Compare(b.Values[0], a.Values[0]) })
	for _, plot := range []struct {
		name, page string
		Plot
	}{
		{"speed", "benchmarks", Plot{"How many calls a second", "calls per second, on one core with the client; more is better", subjects,
			groups(t, local, []string{"one call at a time", "32 calls in flight"}, subjects...)}},
		{"memory", "benchmarks", Plot{"How much memory", "MiB, resident; less is better", subjects,
			groups(t, local, []string{"memory after the handshake", "memory with"}, subjects...)}},
		{"scaling", "benchmarks", Plot{"Appends to PostgreSQL", "appends per second; more is better", []string{"engine and store", "bare loop"}, clients}},
		{"search-quality", "search-quality", Plot{"How well thoughts are found, by query", "nDCG@10; 1 is the best order of the first ten", []string{"nDCG@10"}, queries}},
	} {
		if err := Check(filepath.Join(docs, "pictures"), plot.name, plot.SVG, *update); err != nil {
			t.Error(err)
		}
		if picture := Reference("pictures", plot.name, plot.Title); !strings.Contains(pages[plot.page], picture) {
			t.Errorf("docs/%s.md does not show the plot:\n%s", plot.page, picture)
		}
	}
}

// All pictures of the documentation are well-formed and load nothing.
func TestWellFormed(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "docs", "pictures", "*.svg"))
	if err != nil || len(files) < 10 {
		t.Fatalf("found %d pictures: %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		d := xml.NewDecoder(strings.NewReader(string(text)))
		for err = error(nil); err == nil; {
			_, err = d.Token()
		}
		if !errors.Is(err, io.EOF) {
			t.Errorf("%s: %v", file, err)
		}
		for _, outside := range []string{"href", "url(", "@import", "<script"} {
			if strings.Contains(string(text), outside) {
				t.Errorf("%s has %s", file, outside)
			}
		}
	}
}

func TestTicks(t *testing.T) {
	for top, want := range map[float64]float64{0: 1, 1: 0.2, 0.93: 0.2, 7: 1, 184: 50, 66.5: 10, 40545: 10000, 63520: 10000} {
		if got := tick(top); math.Abs(got-want) > 1e-9 {
			t.Errorf("the marks up to %v are %v apart, want %v", top, got, want)
		}
	}
	for _, test := range []struct {
		v, precision float64
		want         string
	}{{63520, 635, "63,520"}, {0.36, 0.0036, "0.36"}, {1234567, 1, "1,234,567"}, {17, 0.17, "17.0"}, {0.2, 0.2, "0.2"}} {
		if got := figure(test.v, test.precision); got != test.want {
			t.Errorf("figure(%v, %v) = %s, want %s", test.v, test.precision, got, test.want)
		}
	}
}
