package mcpserver

import (
	"strings"
	"testing"
)

func TestCheckAddress(t *testing.T) {
	t.Parallel()
	for addr, want := range map[string]string{
		"127.0.0.1:8080": "", "127.9.9.9:0": "", "[::1]:8080": "", "localhost:80": "", "LOCALHOST.:80": "", "[::ffff:127.0.0.1]:1": "",
		"0.0.0.0:8080": "other machines", ":8080": "other machines", "[::]:80": "other machines", "192.168.1.1:80": "other machines",
		"example.com:80": "other machines", "localhost.example.com:80": "other machines",
		"8080": "not an address", "::1:80": "not an address", "": "not an address",
	} {
		err := CheckAddress(addr)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("CheckAddress(%q) = %v, want %q in it", addr, err, want)
		}
	}
}
