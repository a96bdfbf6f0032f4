package command

import "testing"

func TestSize(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"0": 0, "1000": 1000, "64KiB": 64 << 10, "64k": 64 << 10, "128MiB": 128 << 20, "128M": 128 << 20, "2gib": 2 << 30,
	} {
		var s size
		if err := s.Set(text); err != nil || int64(s) != want {
			t.Errorf("%q is %d, %v; want %d", text, s, err, want)
		}
		var again size
		if err := again.Set(s.String()); err != nil || again != s {
			t.Errorf("%q is written as %q, which is %d, %v", text, s.String(), again, err)
		}
	}
	for _, text := range []string{"", "MiB", "-1", "1.5MiB", "1 MiB", "1MiBKiB", "99999999999GiB", "1TiB", "x"} {
		s := size(7)
		if err := s.Set(text); err == nil || s != 7 {
			t.Errorf("%q is %d, %v; want an error", text, s, err)
		}
	}
}
