package thinking_test

import "os"

// kill ends a process at once.
func kill(pid int) {
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill()
	}
	if pid == os.Getpid() {
		select {}
	}
}
