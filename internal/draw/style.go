package draw

import "charm.land/lipgloss/v2"

// Style returns the style of a span on a terminal with colours. It uses only the 16
// colours that every terminal has, which users can configure.
func Style(s Span) lipgloss.Style {
	plain := lipgloss.NewStyle()
	switch s.Role {
	case Superseded, Meta, Fold:
		return plain.Faint(true)
	case Lane:
		return plain.Foreground(lane(s.Lane))
	case Number:
		return plain.Foreground(lane(s.Lane)).Bold(true)
	case Label:
		return plain.Foreground(lane(s.Lane)).Italic(true)
	case Tag:
		return plain.Foreground(lipgloss.Yellow)
	case Final:
		return plain.Foreground(lipgloss.Green).Bold(true)
	case Newest:
		return plain.Foreground(lipgloss.BrightRed).Bold(true)
	case Match:
		return plain.Foreground(lipgloss.Yellow).Bold(true)
	case Title:
		return plain.Bold(true)
	}
	return plain
}

// lane returns the colour of the nth line of a session.
func lane(n int) lipgloss.ANSIColor {
	colors := [...]lipgloss.ANSIColor{6, 5, 4, 3, 2, 1} // cyan, magenta, blue, yellow, green, red
	return colors[n%len(colors)]
}

// Styled returns lines for a terminal with colours. Each ends with a line feed.
func Styled(lines []Line) string {
	return written(lines, func(s Span) string {
		if s.Role == Text || s.Text == "" {
			return s.Text
		}
		return Style(s).Render(s.Text)
	})
}
