package calibrate

import (
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/halyard-robotics/halyard/internal/sim/identify"
)

// On a full disk the file that a conversion would replace stays as it is.
func TestConvertServoOnFullDisk(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "servo.yaml"), filepath.Join(dir, "bam.json")
	s, err := identify.Known("xl330-m288")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Save(from); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, []byte("before"), 0o644); err != nil {
		t.Fatal(err)
	}
	var most syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &most); err != nil {
		t.Skip(err)
	}
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 20, Max: most.Max}); err != nil {
		t.Skip(err)
	}
	_, err = ConvertServo(from, "", to, noon)
	if back := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &most); back != nil {
		t.Fatal(back)
	}
	if data, _ := os.ReadFile(to); err == nil || string(data) != "before" {
		t.Errorf("got %v and %q, want an error and the file as it was", err, data)
	}
}
