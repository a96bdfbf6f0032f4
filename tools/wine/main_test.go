package main

import (
	"bytes"
	"debug/pe"
	"testing"
)

// The library is a valid one, with one section in which the exports are.
func TestForwarder(t *testing.T) {
	f, err := pe.NewFile(bytes.NewReader(forwarder("a.dll", "F", "b.G")))
	if err != nil {
		t.Fatal(err)
	}
	h, ok := f.OptionalHeader.(*pe.OptionalHeader64)
	if !ok || len(f.Sections) != 1 {
		t.Fatalf("the header is %T, with %d sections", f.OptionalHeader, len(f.Sections))
	}
	content, err := f.Sections[0].Data()
	if err != nil {
		t.Fatal(err)
	}
	exports := h.DataDirectory[pe.IMAGE_DIRECTORY_ENTRY_EXPORT]
	if got := string(content[50:exports.Size]); got != "a.dll\x00F\x00b.G\x00" {
		t.Errorf("the names are %q", got)
	}
}
