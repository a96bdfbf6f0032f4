package printable

import (
	"fmt"
	"time"
)

// Count returns n with the right form of a noun.
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Ago returns how long ago something was, in words.
func Ago(d time.Duration) string {
	if age := Age(d); age != "now" {
		return age + " ago"
	}
	return "just now"
}

// Age returns a duration in its largest unit: 5m, 3h, 12d.
func Age(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return "now"
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d < 365*24*time.Hour:
		return fmt.Sprintf("%dd", d/(24*time.Hour))
	}
	return fmt.Sprintf("%dy", d/(365*24*time.Hour))
}
