package commission

import (
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
)

// On a full disk no half of a register file stays: it would be refused by restore, and its name be taken.
func TestSaveOnFullDisk(t *testing.T) {
	f := &RegisterFile{Model: "sts3215", Type: "feetech-sts", Registers: map[string]int64{}}
	for r := 'a'; r <= 'z'; r++ {
		f.Registers[string(r)] = 1
	}
	path := filepath.Join(t.TempDir(), "elbow.json")
	var most syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &most); err != nil {
		t.Skip(err)
	}
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 100, Max: most.Max}); err != nil {
		t.Skip(err)
	}
	err := f.Save(path)
	if back := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &most); back != nil {
		t.Fatal(back)
	}
	if _, there := os.Stat(path); err == nil || there == nil {
		t.Errorf("got %v and a file, want an error and none", err)
	}
	if err := f.Save(path); err != nil {
		t.Errorf("with space again: got %v", err)
	}
}
