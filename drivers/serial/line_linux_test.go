package serial

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// Both openers are the same line.
func TestLine(t *testing.T) {
	for _, opener := range []string{Bugst, Tarm} {
		t.Run(opener, func(t *testing.T) {
			master, slave := openPTY(t)
			l := open(t, slave, 57600, opener)
			if l.Baud() != 57600 || l.Rate() != 57600 {
				t.Fatalf("baud: got %d, rate %d", l.Baud(), l.Rate())
			}
			// Every byte value passes both ways: the port is raw.
			all := make([]byte, 256)
			for i := range all {
				all[i] = byte(i)
			}
			if n, err := l.Write(all); n != 256 || err != nil {
				t.Fatal(n, err)
			}
			got := make([]byte, 256)
			if _, err := io.ReadFull(master, got); err != nil || string(got) != string(all) {
				t.Fatalf("master: got %x, %v", got, err)
			}
			master.Write(all)
			for n := 0; n < 256; {
				k, err := l.Read(got[n:], time.Second)
				if err != nil {
					t.Fatal(err)
				}
				n += k
			}
			if string(got) != string(all) {
				t.Fatalf("line: got %x", got)
			}
			// Nothing there: a deadline of the right length, not EOF, not (0, nil), not VTIME's 100 ms.
			for _, d := range []time.Duration{-1, 0, 300 * time.Microsecond, 2 * time.Millisecond} {
				start := l.Now()
				if n, err := l.Read(got, d); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
					t.Fatalf("timeout %v: got %d, %v", d, n, err)
				}
				if took := l.Now() - start; took < d || took > d+80*time.Millisecond {
					t.Errorf("timeout %v: took %v", d, took)
				}
			}
			// What was discarded does not come back.
			master.Write([]byte("old"))
			if _, err := l.ctl.wait(unix.POLLIN, time.Second); err != nil {
				t.Fatal(err)
			}
			if err := l.Discard(); err != nil {
				t.Fatal(err)
			}
			master.Write([]byte("new"))
			if n, _ := l.Read(got, time.Second); string(got[:n]) != "new" {
				t.Errorf("after Discard: got %q", got[:n])
			}
			if err := l.SetBaud(9600); err != nil || l.Rate() != 9600 {
				t.Errorf("SetBaud: got rate %d, %v", l.Rate(), err)
			}
			if d, note := l.LatencyTimer(); d != 0 || note == "" {
				t.Errorf("latency: got %v, %q, want none and a reason", d, note)
			}
			// The other end goes.
			master.Close()
			if _, err := l.Read(got, time.Second); !errors.Is(err, servo.ErrDisconnected) ||
				hal.KindOf(err) != hal.Absent {
				t.Errorf("read when gone: got %v", err)
			}
			if _, err := l.Write(all); !errors.Is(err, servo.ErrDisconnected) {
				t.Errorf("write when gone: got %v", err)
			}
			if n := testing.AllocsPerRun(10, func() { l.Read(got, 0) }); n != 0 {
				t.Errorf("read when gone: got %v allocations", n)
			}
			if err := errors.Join(l.Close(), l.Close()); err != nil {
				t.Error(err)
			}
			if _, err := l.Read(got, 0); !errors.Is(err, os.ErrClosed) {
				t.Errorf("read when closed: got %v", err)
			}
		})
	}
}

func TestRates(t *testing.T) {
	_, slave := openPTY(t)
	l := open(t, slave, 1_000_000, "")
	for _, baud := range []int{9600, 57600, 115200, 250_000, 1_234_567, 2_000_000, 3_000_000, 4_000_000, 4_500_000,
		9600} {
		if err := l.SetBaud(baud); err != nil || l.Rate() != baud || l.Baud() != baud {
			t.Errorf("%d: got %d, %v", baud, l.Rate(), err)
		}
	}
}

func TestRefused(t *testing.T) {
	_, slave := openPTY(t)
	plain := filepath.Join(t.TempDir(), "file")
	os.WriteFile(plain, nil, 0o600)
	for _, c := range []struct {
		path   string
		baud   int
		opener string
		kind   hal.Kind
		want   string
	}{
		{"/dev/ttyUSB77", 9600, "", hal.Absent, "(try: halyard ports)"},
		{slave, 0, "", hal.Invalid, "baud: got 0, want 1..4500000"},
		{slave, 4_500_001, "", hal.Invalid, "want 1..4500000"},
		{slave, 230_400, Tarm, hal.Invalid, "got 230400, want at most 115200 with serial_backend tarm"},
		{slave, 12_345, Tarm, hal.Invalid, "want one of [2400 "},
		{slave, 9600, "cat", hal.Invalid, `got "cat", want bugst or tarm`},
		{"/dev/null", 9600, "", hal.Invalid, "not a serial port"},
		{t.TempDir(), 9600, "", hal.Invalid, "not a serial port"},
		{plain, 9600, "", hal.Invalid, "not a serial port"},
	} {
		l, err := Open(c.path, c.baud, c.opener)
		if l != nil || hal.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %d %s: got %v (%v), want %v: %s", c.path, c.baud, c.opener, err, hal.KindOf(err), c.kind,
				c.want)
		}
	}
}

// The same process, and root, are refused; after Close the port is free.
func TestExclusive(t *testing.T) {
	_, slave := openPTY(t)
	l := open(t, slave, 9600, "")
	for _, opener := range []string{Bugst, Tarm} {
		_, err := Open(slave, 9600, opener)
		if want := fmt.Sprintf("held by pid %d (", os.Getpid()); hal.KindOf(err) != hal.Busy ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("second open: got %v, want busy, %s", err, want)
		}
	}
	l.Close()
	open(t, slave, 9600, "")
}

// Another program that knows nothing of flock holds the port by TIOCEXCL alone, which root passes.
func TestHeldByStranger(t *testing.T) {
	if slave := os.Getenv("HALYARD_TEST_HOLD"); slave != "" {
		fd, err := unix.Open(slave, unix.O_RDWR|unix.O_NOCTTY, 0)
		if err == nil {
			err = unix.IoctlSetInt(fd, unix.TIOCEXCL, 0)
		}
		fmt.Println("held", err)
		io.Copy(io.Discard, os.Stdin)
		return
	}
	_, slave := openPTY(t)
	cmd := exec.Command(os.Args[0], "-test.run=^TestHeldByStranger$")
	cmd.Env = append(os.Environ(), "HALYARD_TEST_HOLD="+slave)
	in, _ := cmd.StdinPipe()
	out, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, _ := bufio.NewReader(out).ReadString('\n'); line != "held <nil>\n" {
		t.Fatalf("stranger: got %q", line)
	}
	_, err := Open(slave, 9600, "")
	if want := fmt.Sprintf("pid %d (", cmd.Process.Pid); hal.KindOf(err) != hal.Busy ||
		!strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want busy, %s", err, want)
	}
	in.Close()
	cmd.Wait()
	// The pty keeps TIOCEXCL after the end of the process that set it; root can still open the port.
	if os.Getuid() == 0 {
		open(t, slave, 9600, "")
	}
}

// A link that points to another device after the replug stands for /dev/serial/by-id.
func TestReopener(t *testing.T) {
	link := filepath.Join(t.TempDir(), "usb-FTDI")
	// Both are there at once, or the kernel would give the second the number of the first.
	first, slave := openPTY(t)
	second, other := openPTY(t)
	if err := os.Symlink(slave, link); err != nil {
		t.Fatal(err)
	}
	reopen := Reopener(link, 1_000_000, "")
	l, err := reopen()
	if err != nil {
		t.Fatal(err)
	}
	before := l.Now()
	first.Close()
	if _, err := l.Read(make([]byte, 1), time.Second); !errors.Is(err, servo.ErrDisconnected) {
		t.Fatal(err)
	}
	l.Close()
	os.Remove(link)
	if l, err := reopen(); l != nil || hal.KindOf(err) != hal.Absent {
		t.Fatalf("while away: got %v, %v", l, err)
	}
	os.Symlink(other, link)
	if l, err = reopen(); err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	second.Write([]byte{7})
	p := make([]byte, 4)
	if n, err := l.Read(p, time.Second); n != 1 || p[0] != 7 || err != nil {
		t.Error(n, err)
	}
	if l.Now() < before {
		t.Errorf("clock: got %v after %v", l.Now(), before)
	}
}

// An adapter that takes no more bytes costs a bounded time.
func TestWriteBounded(t *testing.T) {
	_, slave := openPTY(t)
	l := open(t, slave, 1_000_000, "")
	p := make([]byte, 4096)
	for range 100 {
		n, err := l.Write(p)
		if err == nil {
			continue
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) || hal.KindOf(err) != hal.BusFault || n == len(p) {
			t.Fatalf("got %d, %v", n, err)
		}
		return
	}
	t.Fatal("a pty without a reader accepted everything")
}

func TestCycleAllocatesNothing(t *testing.T) {
	master, slave := openPTY(t)
	l := open(t, slave, 1_000_000, "")
	p := make([]byte, 14)
	echo := make([]byte, 14)
	per := testing.AllocsPerRun(100, func() {
		l.Write(p)
		io.ReadFull(master, echo)
		master.Write(echo)
		if n, err := l.Read(p, time.Second); n == 0 || err != nil {
			t.Fatal(n, err)
		}
		l.Read(p, 0)
	})
	if per != 0 {
		t.Errorf("got %v allocations a cycle, want 0", per)
	}
}

// A question of 14 bytes and an answer as long through a pseudo terminal, four system calls. The bound is the wire: 28
// bytes are 280 µs at 1 Mbaud; ratio is the part of it that the calls take.
func BenchmarkRoundTrip(b *testing.B) {
	master, slave := openPTY(b)
	l := open(b, slave, 1_000_000, "")
	p, echo := make([]byte, 14), make([]byte, 14)
	b.ReportAllocs()
	for b.Loop() {
		l.Write(p)
		io.ReadFull(master, echo)
		master.Write(echo)
		l.Read(p, time.Second)
	}
	b.ReportMetric(float64(b.Elapsed())/float64(b.N)/280e3, "ratio")
}

// A line with parity is re-tuned as one without. Whether the bit is sent a pseudo terminal, which has none, cannot
// tell.
func TestParity(t *testing.T) {
	_, slave := openPTY(t)
	l := open(t, slave, 115200, Bugst)
	for _, even := range []bool{true, true, false} {
		if err := errors.Join(l.SetEven(even), l.SetBaud(1250000)); err != nil || l.even != even {
			t.Errorf("even %v: got %v, %v", even, l.even, err)
		}
	}
	_, other := openPTY(t)
	if err := open(t, other, 57600, Tarm).SetEven(true); hal.KindOf(err) != hal.Invalid {
		t.Errorf("tarm: got %v, want it refused", err)
	}
}
