package pty_test

import (
	"errors"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/halyard-robotics/halyard/internal/emulator/pty"
)

func open(t *testing.T) *pty.PTY {
	t.Helper()
	p, err := pty.Open(1000000)
	if err != nil {
		t.Skipf("no pseudo terminals here: %v", err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

func client(t *testing.T, path string) *os.File {
	t.Helper()
	c, err := os.OpenFile(path, os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestBytesPassUntouched(t *testing.T) {
	p := open(t)
	// Every value a terminal could take for a control character, both ways, for two clients one after another.
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	for range 2 {
		c := client(t, p.Path)
		if _, err := c.Write(all); err != nil {
			t.Fatal(err)
		}
		checkRead(t, all, func(b []byte) (int, error) { return p.Read(b, time.Now().Add(time.Second)) })
		if n, err := p.Write(all); n != len(all) || err != nil {
			t.Fatalf("write: got %d, %v", n, err)
		}
		checkRead(t, all, c.Read)
		c.Close()
	}
}

func checkRead(t *testing.T, want []byte, read func([]byte) (int, error)) {
	t.Helper()
	var got []byte
	for len(got) < len(want) {
		b := make([]byte, 64)
		n, err := read(b)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, b[:n]...)
	}
	if string(got) != string(want) {
		t.Fatalf("got % X, want % X", got, want)
	}
}

func TestBaudIsTheClients(t *testing.T) {
	p := open(t)
	if got := p.Baud(); got != 1000000 {
		t.Errorf("before any client: got %d, want 1000000", got)
	}
	c := client(t, p.Path)
	defer c.Close()
	for _, baud := range []uint32{57600, 1000000, 4500000, 123457} {
		tio, err := unix.IoctlGetTermios(int(c.Fd()), unix.TCGETS2)
		if err != nil {
			t.Fatal(err)
		}
		tio.Cflag = tio.Cflag&^unix.CBAUD | unix.BOTHER
		tio.Ispeed, tio.Ospeed = baud, baud
		if err := unix.IoctlSetTermios(int(c.Fd()), unix.TCSETS2, tio); err != nil {
			t.Fatal(err)
		}
		if got := p.Baud(); got != int(baud) {
			t.Errorf("got %d, want %d", got, baud)
		}
	}
}

func TestReadEndsAtItsDeadlineAndWhenInterrupted(t *testing.T) {
	p := open(t)
	b := make([]byte, 1)
	if _, err := p.Read(b, time.Now().Add(time.Millisecond)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("got %v, want a deadline", err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := p.Read(b, time.Now().Add(time.Minute))
		done <- err
	}()
	for {
		p.Interrupt()
		select {
		case err := <-done:
			if !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("got %v, want a deadline", err)
			}
			return
		default:
		}
	}
}

func TestReleaseFreesALineOfADeadClient(t *testing.T) {
	p := open(t)
	c := client(t, p.Path)
	if err := unix.IoctlSetInt(int(c.Fd()), unix.TIOCEXCL, 0); err != nil {
		t.Fatal(err)
	}
	exclusive := func() bool {
		n, _ := unix.IoctlGetInt(int(c.Fd()), unix.TIOCGEXCL)
		return n != 0
	}
	if p.Release(); !exclusive() {
		t.Error("a living client lost its claim")
	}
	c.Close() // without TIOCNXCL, as a killed process
	p.Release()
	c = client(t, p.Path)
	defer c.Close()
	if exclusive() {
		t.Error("the dead client's claim is still there")
	}
}

func TestAClientThatDoesNotReadNeverBlocksTheDevice(t *testing.T) {
	p := open(t)
	block := make([]byte, 4096)
	for range 64 {
		if n, _ := p.Write(block); n < len(block) {
			return
		}
	}
	t.Error("the line accepted 256 KiB without a reader")
}

func TestAnUnpluggedLineKeepsItsNumber(t *testing.T) {
	p := open(t)
	if err := p.Unplug(); err != nil {
		t.Fatal(err)
	}
	for range 8 {
		if other := open(t); other.Path == p.Path {
			t.Fatalf("another terminal: got %s, want a number that is not the unplugged one's", other.Path)
		}
	}
	if c, err := os.OpenFile(p.Path, os.O_RDWR|unix.O_NOCTTY, 0); !errors.Is(err, os.ErrNotExist) {
		c.Close()
		t.Errorf("open %s: got %v, want none there", p.Path, err)
	}
}
