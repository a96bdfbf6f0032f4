package postgres

import "strings"

// PostgreSQL's texts cannot have U+0000. A text in the store has U+0001 and 0 instead, and
// U+0001 and 1 instead of U+0001:
//
//	SELECT replace(replace(text, E'\x010', '␀'), E'\x011', E'\x01') FROM tool_log
var (
	packer   = strings.NewReplacer("\x00", "\x010", "\x01", "\x011")
	unpacker = strings.NewReplacer("\x010", "\x00", "\x011", "\x01")
)

func pack(s string) string {
	if strings.ContainsAny(s, "\x00\x01") {
		return packer.Replace(s)
	}
	return s
}

func unpack(s string) string {
	if strings.IndexByte(s, 1) >= 0 {
		return unpacker.Replace(s)
	}
	return s
}

// packed returns arguments with their texts packed.
func packed(args []any) []any {
	all := make([]any, len(args))
	for i, a := range args {
		if s, ok := a.(string); ok {
			a = pack(s)
		}
		all[i] = a
	}
	return all
}
