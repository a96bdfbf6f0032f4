// Command wine runs a program for windows/amd64 under Wine, with a Windows folder of its own:
//
//	go build -C tools -o ../dist/wine ./wine
//	GOOS=windows go test -exec "$PWD/wine -prefix $HOME/wine" ./words
//	./wine -prefix DIR                 prepare the folder only
//
// Programs in Go need the function ProcessPrng of bcryptprimitives.dll, which Wine has since
// version 9.1. In an older one the command puts a library that forwards it to the function
// of an earlier Windows.
package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
)

func main() {
	prefix := flag.String("prefix", "", "directory of the Windows folder, which is made if it does not exist")
	flag.Parse()
	code, err := run(*prefix, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "wine:", err)
		code = 1
	}
	os.Exit(code)
}

func run(prefix string, args []string) (code int, err error) {
	if prefix == "" {
		return 0, errors.New("pass -prefix DIR")
	}
	if prefix, err = filepath.Abs(prefix); err != nil {
		return 0, err
	}
	wine, err := exec.LookPath("wine")
	if err != nil {
		return 0, err
	}
	env := append(os.Environ(), "WINEPREFIX="+prefix, "WINEDEBUG=-all", "WINEDLLOVERRIDES=mscoree,mshtml=")
	if err := prepare(wine, prefix, env); err != nil {
		return 0, err
	}
	if len(args) == 0 {
		return 0, nil
	}
	return become(wine, append([]string{wine}, args...), env)
}

// prepare makes the Windows folder, unless it is there.
func prepare(wine, prefix string, env []string) error {
	library := filepath.Join(prefix, "drive_c", "windows", "system32", "bcryptprimitives.dll")
	if _, err := os.Stat(library); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(prefix), 0o755); err != nil {
		return err
	}
	boot := exec.Command(wine, "wineboot", "--init")
	boot.Env = env
	if out, err := boot.CombinedOutput(); err != nil {
		return fmt.Errorf("wineboot: %w\n%s", err, out)
	}
	if _, err := os.Stat(library); err == nil {
		return nil
	}
	temp := library + ".tmp"
	if err := os.WriteFile(temp, forwarder("bcryptprimitives.dll", "ProcessPrng", "advapi32.SystemFunction036"), 0o755); err != nil {
		return err
	}
	return os.Rename(temp, library)
}

// forwarder returns a library for amd64 that forwards one function to another. It has no code:
// the export of a function that is forwarded is a name.
func forwarder(library, function, target string) []byte {
	const (
		headers = 0x200
		address = 0x1000 // of the only section, in memory
		base    = 0x180000000
	)
	// The section: the export directory with its three tables, then the strings.
	const tables = 40
	names := uint32(address + tables + 4 + 4 + 2)
	text := append([]byte(library), 0)
	functionAt := names + uint32(len(text))
	text = append(append(text, function...), 0)
	targetAt := names + uint32(len(text))
	text = append(append(text, target...), 0)
	size := tables + 4 + 4 + 2 + uint32(len(text))

	var b bytes.Buffer
	put := func(values ...any) {
		for _, v := range values {
			_ = binary.Write(&b, binary.LittleEndian, v) // a Buffer does not fail
		}
	}
	b.WriteString("MZ")
	b.Write(make([]byte, 0x3A))
	put(uint32(0x40)) // where the next header is
	b.WriteString("PE\x00\x00")
	put(uint16(0x8664), uint16(1), uint32(0), uint32(0), uint32(0), uint16(240), uint16(0x2022)) // amd64, one section, a library
	put(uint16(0x20B), uint16(1), uint32(0), uint32(0x200), uint32(0), uint32(0), uint32(address))
	put(uint64(base), uint32(0x1000), uint32(0x200), uint16(6), uint16(0), uint16(0), uint16(0), uint16(6), uint16(0), uint32(0))
	put(uint32(2*address), uint32(headers), uint32(0), uint16(2), uint16(0x100))
	put(uint64(1<<20), uint64(1<<12), uint64(1<<20), uint64(1<<12), uint32(0), uint32(16))
	put(uint32(address), size)
	b.Write(make([]byte, 15*8))
	b.WriteString(".edata\x00\x00")
	put(size, uint32(address), uint32(0x200), uint32(headers), uint32(0), uint32(0), uint32(0), uint32(0x40000040))
	b.Write(make([]byte, headers-b.Len()))
	put(uint32(0), uint32(0), uint32(0), names, uint32(1), uint32(1), uint32(1), uint32(address+tables), uint32(address+tables+4), uint32(address+tables+8))
	put(targetAt, functionAt, uint16(0))
	b.Write(text)
	b.Write(make([]byte, headers+0x200-b.Len()))
	return b.Bytes()
}
