package words

import (
	"sync"
	"unicode"
	"unicode/utf8"
)

// appendFolded appends r in lower case and without diacritics.
func appendFolded(dst []byte, r rune) []byte {
	if 0xFF01 <= r && r <= 0xFF5E { // full-width ASCII
		r -= 0xFF01 - '!'
	}
	r = unicode.ToLower(r)
	if s, ok := folds()[r]; ok {
		return append(dst, s...)
	}
	return utf8.AppendRune(dst, r)
}

// compose returns the character that a and b compose in Hangul and Kana. Some
// systems store these scripts decomposed.
func compose(a, b rune) (rune, bool) {
	const (
		lead, leads   = 0x1100, 19
		vowel, vowels = 0x1161, 21
		trail, trails = 0x11A7, 28
		first         = 0xAC00
		count         = leads * vowels * trails
	)
	switch {
	case lead <= a && a < lead+leads && vowel <= b && b < vowel+vowels:
		return first + ((a-lead)*vowels+(b-vowel))*trails, true
	case first <= a && a < first+count && (a-first)%trails == 0 && trail < b && b < trail+trails:
		return a + b - trail, true
	case b == 0x3099 && (a == 'う' || a == 'ウ'):
		return a + 'ゔ' - 'う', true
	case b == 0x3099 && unicode.Is(voiceable, a):
		return a + 1, true
	case b == 0x309A && unicode.Is(voiceable, a) && (a-'は')%0x60 < 15 && a >= 'は':
		return a + 2, true
	}
	return 0, false
}

// voiceable contains the kana whose voiced form is the next character.
var voiceable = &unicode.RangeTable{R16: []unicode.Range16{
	{'か', 'ち', 2}, {'つ', 'と', 2}, {'は', 'ほ', 3},
	{'カ', 'チ', 2}, {'ツ', 'ト', 2}, {'ハ', 'ホ', 3},
}}

// folds maps lower-case letters to the same letters without diacritics.
//
// The Greek and Cyrillic rows make composed and decomposed spellings equal, because
// combining marks are dropped.
var folds = sync.OnceValue(func() map[rune]string {
	m := make(map[rune]string, 512)
	for _, f := range [...]struct{ to, from string }{
		{"a", "àáâãäåāăąǎǟǡǻȁȃȧḁạảấầẩẫậắằẳẵặẚ"},
		{"ae", "æǣǽ"},
		{"b", "ƀḃḅḇ"},
		{"c", "çćĉċčḉ"},
		{"d", "ðďđḋḍḏḑḓ"},
		{"e", "èéêëēĕėęěȅȇȩḕḗḙḛḝẹẻẽếềểễệ"},
		{"f", "ḟ"},
		{"ff", "ﬀ"},
		{"ffi", "ﬃ"},
		{"ffl", "ﬄ"},
		{"fi", "ﬁ"},
		{"fl", "ﬂ"},
		{"g", "ĝğġģǥǧǵḡ"},
		{"h", "ĥħȟḣḥḧḩḫẖ"},
		{"i", "ìíîïĩīĭįıǐȉȋḭḯỉị"},
		{"ij", "ĳ"},
		{"j", "ĵǰȷ"},
		{"k", "ķǩḱḳḵ"},
		{"l", "ĺļľŀłḷḹḻḽ"},
		{"m", "ḿṁṃ"},
		{"n", "ñńņňŉǹṅṇṉṋ"},
		{"o", "òóôõöøōŏőơǒǫǭǿȍȏȫȭȯȱṍṏṑṓọỏốồổỗộớờởỡợ"},
		{"oe", "œ"},
		{"p", "ṕṗ"},
		{"r", "ŕŗřȑȓṙṛṝṟ"},
		{"s", "ſśŝşšșṡṣṥṧṩẛ"},
		{"ss", "ß"},
		{"st", "ﬅﬆ"},
		{"t", "ţťŧțṫṭṯṱẗ"},
		{"th", "þ"},
		{"u", "ùúûüũūŭůűųưǔǖǘǚǜȕȗṳṵṷṹṻụủứừửữự"},
		{"v", "ṽṿ"},
		{"w", "ŵẁẃẅẇẉẘ"},
		{"x", "ẋẍ"},
		{"y", "ýÿŷȳẏẙỳỵỷỹ"},
		{"z", "źżžƶẑẓẕ"},
		{"ʒ", "ǯ"},
		{"α", "άἀἁἂἃἄἅἆἇὰάᾀᾁᾂᾃᾄᾅᾆᾇᾰᾱᾲᾳᾴᾶᾷ"},
		{"ε", "έἐἑἒἓἔἕὲέ"},
		{"η", "ήἠἡἢἣἤἥἦἧὴήᾐᾑᾒᾓᾔᾕᾖᾗῂῃῄῆῇ"},
		{"ι", "ΐίϊἰἱἲἳἴἵἶἷὶίιῐῑῒΐῖῗ"},
		{"ο", "όὀὁὂὃὄὅὸό"},
		{"ρ", "ῤῥ"},
		{"σ", "ς"},
		{"υ", "ΰϋύὐὑὒὓὔὕὖὗὺύῠῡῢΰῦῧ"},
		{"ω", "ώὠὡὢὣὤὥὦὧὼώᾠᾡᾢᾣᾤᾥᾦᾧῲῳῴῶῷ"},
		{"а", "ӑӓ"},
		{"г", "ѓ"},
		{"е", "ѐёӗ"},
		{"ж", "ӂӝ"},
		{"з", "ӟ"},
		{"и", "йѝӣӥ"},
		{"к", "ќ"},
		{"о", "ӧ"},
		{"у", "ўӯӱӳ"},
		{"ч", "ӵ"},
		{"ы", "ӹ"},
		{"э", "ӭ"},
		{"і", "ї"},
		{"ѵ", "ѷ"},
		{"ә", "ӛ"},
		{"ө", "ӫ"},
	} {
		for _, r := range f.from {
			m[r] = f.to
		}
	}
	return m
})
