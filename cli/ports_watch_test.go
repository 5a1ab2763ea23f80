package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/internal/commission/doctor"
	"github.com/halyard-robotics/halyard/internal/rigtest"
)

// An adapter that is pulled out, comes back under another number, is taken by a program and is exchanged.
func TestWatchPorts(t *testing.T) {
	root := rigtest.Machine(t, nil)
	out, in := io.Pipe()
	var notes bytes.Buffer
	a := &app{out: in, err: &notes, format: "table"}
	ctx, cancel := context.WithCancel(t.Context())
	ticks := make(chan time.Time)
	ended := make(chan error, 1)
	go func() {
		err := a.watchPorts(ctx, root, ticks)
		in.Close()
		ended <- err
	}()
	lines := bufio.NewReader(out)
	read := func(want ...string) { // a line each
		t.Helper()
		for _, w := range want {
			if text, err := lines.ReadString('\n'); err != nil || !strings.Contains(text, w) {
				t.Fatalf("got %q, %v; want %q", text, err, w)
			}
		}
	}
	link, node := filepath.Join(root, "sys/class/tty/ttyUSB0"), filepath.Join(root, "dev/ttyUSB0")
	to, err := os.Readlink(link)
	if err != nil {
		t.Fatal(err)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	tick := func() { ticks <- time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC) }
	read("FT232H (/dev/ttyUSB0)  Dynamixel U2D2  access ok")
	must(os.Remove(link))
	tick()
	read("- 10:00:00 " + doctor.AdapterName)
	must(os.Symlink(to, link))
	tick()
	read("+ 10:00:00 " + doctor.AdapterName)
	must(os.MkdirAll(filepath.Join(root, "proc/812/fd"), 0o755))
	must(os.Symlink("/dev/ttyUSB0", filepath.Join(root, "proc/812/fd/3")))
	must(os.WriteFile(filepath.Join(root, "proc/812/comm"), []byte("lerobot\n"), 0o600))
	tick()
	read("held by pid 812 (lerobot)")
	must(os.WriteFile(filepath.Join(root, "sys/devices/usb1/1-1/serial"), []byte("FT9XYZ\n"), 0o600))
	tick() // another one of its kind, between two looks
	read("- 10:00:00 ", "+ 10:00:00 ")
	must(os.Remove(node))
	tick()
	read("access denied")
	tick() // nothing new
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if !strings.Contains(notes.String(), "1 adapters") || !strings.Contains(notes.String(), "Fix: stop it: kill 812") {
		t.Errorf("notes: got %s", &notes)
	}
}

func TestWatchUsage(t *testing.T) {
	if code, _, errText := runApp(t, "ports", "--udev", "--watch"); code != 2 ||
		!strings.Contains(errText, "one of them") {
		t.Errorf("got exit %d, %s", code, errText)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, errs bytes.Buffer
	a := &app{out: &out, err: &errs}
	if code := a.Run(ctx, []string{"ports", "--watch", "-o", "jsonl", "-q"}); code != 1 && code != 0 {
		t.Errorf("got exit %d, %s", code, &errs)
	}
}
