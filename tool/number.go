package tool

// integer returns the value of a JSON number, and whether it is an integer within
// ±maxInt: 7, 7.0 and 70e-1 are. It computes with decimal digits, because a float64
// would round.
func integer(b []byte) (n int, ok bool) {
	negative := b[0] == '-'
	if negative {
		b = b[1:]
	}
	var digits [64]byte
	buf := digits[:0]
	point, exponent, i := -1, 0, 0
	for ; i < len(b) && b[i] != 'e' && b[i] != 'E'; i++ {
		if b[i] == '.' {
			point = len(buf)
		} else {
			buf = append(buf, b[i])
		}
	}
	if point < 0 {
		point = len(buf)
	}
	if i < len(b) {
		i++
		down := b[i] == '-'
		if b[i] == '-' || b[i] == '+' {
			i++
		}
		for ; i < len(b); i++ {
			// Larger ones make no difference: no message is as long as this.
			exponent = min(exponent*10+int(b[i]-'0'), 1<<30)
		}
		if down {
			exponent = -exponent
		}
	}
	point += exponent

	large := false
	for i, c := range buf {
		d := int(c - '0')
		switch {
		case i >= point && d != 0:
			return 0, false
		case i >= point || large:
		case n > (maxInt-d)/10:
			large = true
		default:
			n = n*10 + d
		}
	}
	for i := len(buf); i < point && n != 0 && !large; i++ {
		if large = n > maxInt/10; !large {
			n *= 10
		}
	}
	if negative {
		n = -n
	}
	return n, !large
}
