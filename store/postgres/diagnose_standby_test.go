package postgres

import "testing"

func TestSeveralServers(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]bool{
		"postgres://sequent@db/sequent":                 false, // the driver tries it with TLS and without
		"postgres://sequent@db/sequent?sslmode=disable": false,
		"postgres://sequent@db1,db2/sequent":            true,
		"postgres://sequent@db:5432,db:5433/sequent":    true,
	} {
		config, _, err := parse(Config{URL: url})
		if err != nil {
			t.Fatal(err)
		}
		if got := severalServers(&config.ConnConfig.Config); got != want {
			t.Errorf("severalServers(%s) = %t, want %t", url, got, want)
		}
	}
}
