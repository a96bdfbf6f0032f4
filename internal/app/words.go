package app

import (
	"errors"
	"strings"
	"unicode"
)

// SplitWords splits a command line into words as a shell does. Single and double quotes
// join words. A backslash escapes a quote, a backslash or a space that follows it;
// before any other character it is literal, as in Windows paths. Nothing is
// expanded.
func SplitWords(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	var quote rune
	inWord := false
	runes := []rune(line)
	for i := 0; i < len(runes); i++ {
		r := runes[i]
		switch {
		case r == '\\' && quote != '\'' && i+1 < len(runes) && (strings.ContainsRune(`"'\`, runes[i+1]) || quote == 0 && unicode.IsSpace(runes[i+1])):
			i++
			word.WriteRune(runes[i])
			inWord = true
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			quote, inWord = r, true
		case quote == 0 && unicode.IsSpace(r):
			if inWord {
				words = append(words, word.String())
				word.Reset()
				inWord = false
			}
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	if quote != 0 {
		return nil, errors.New("a quote is not closed")
	}
	if inWord {
		words = append(words, word.String())
	}
	return words, nil
}
