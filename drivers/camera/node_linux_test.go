//go:build linux && (amd64 || arm64 || arm || 386 || riscv64 || loong64)

package camera

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/v4l2"
)

// A file that is not a video device gives another error than a missing device.
func TestOpenNode(t *testing.T) {
	plain := filepath.Join(t.TempDir(), "video0")
	if err := os.WriteFile(plain, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	link := plain + "-by-id"
	if err := os.Symlink(plain, link); err != nil {
		t.Fatal(err)
	}
	for path, kind := range map[string]hal.Kind{plain + "9": hal.Absent, plain: hal.Invalid, link: hal.Invalid} {
		c, err := New(Config{Name: "front", Port: path, Node: func() (Node, error) { return OpenNode(path) }, Width: 4,
			Height: 4, Rate: 30})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Open(); hal.KindOf(err) != kind {
			t.Errorf("%s: got %v, want kind %v", path, err, kind)
		}
	}
	// A camera that comes back under another number: the same name leads to the other node.
	for _, number := range []string{"2", "3"} {
		to := filepath.Join(t.TempDir(), "video"+number)
		if err := errors.Join(os.WriteFile(to, nil, 0o600), os.Remove(link), os.Symlink(to, link)); err != nil {
			t.Fatal(err)
		}
		n, err := OpenNode(link)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", n.(*file).fd)); err != nil || got != to {
			t.Errorf("got %s, %v; want %s", got, err, to)
		}
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	if got := others(filepath.Dir(plain)); got != "" {
		t.Errorf("no cameras: got %q", got)
	}
	for _, name := range []string{"usb-HD_Webcam-video-index0", "usb-HD_Webcam-video-index1"} {
		if err := os.WriteFile(filepath.Join(filepath.Dir(plain), name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := others(filepath.Dir(plain)); !strings.HasSuffix(got, "/usb-HD_Webcam-video-index0") {
		t.Errorf("a camera: got %q, want its first node alone", got)
	}
	if err := openFault("front", plain, syscall.EACCES); hal.KindOf(err) != hal.Busy {
		t.Errorf("denied: got %v", err)
	}
	if err := openFault("front", plain, syscall.EBUSY); hal.KindOf(err) != hal.Busy {
		t.Errorf("busy: got %v", err)
	}
}

// The file's own part: waiting, mapping, the clock, and the end of the other side.
func TestFile(t *testing.T) {
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_NONBLOCK|unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	f := &file{fd: ends[0]}
	if err := f.Wait(0); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("nothing there: got %v", err)
	}
	if _, err := unix.Write(ends[1], []byte{1}); err != nil {
		t.Fatal(err)
	}
	if err := f.Wait(time.Minute); err != nil {
		t.Errorf("something there: got %v", err)
	}
	if err := f.Ioctl(v4l2.Native.Number(v4l2.QueryCap), make([]byte, 104)); !errors.Is(err, syscall.ENOTTY) {
		t.Errorf("a pipe's capabilities: got %v", err)
	}
	if _, err := unix.Read(ends[0], make([]byte, 8)); err != nil {
		t.Fatal(err)
	}
	if err := unix.Close(ends[1]); err != nil {
		t.Fatal(err)
	}
	if err := f.Wait(time.Minute); !errors.Is(err, syscall.ENODEV) {
		t.Errorf("the other end gone: got %v", err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if a, b := f.Now(), f.Now(); a <= 0 || b < a {
		t.Errorf("clock: got %v, then %v", a, b)
	}
}

func TestMap(t *testing.T) {
	fd, err := unix.MemfdCreate("frames", unix.MFD_CLOEXEC)
	if err != nil {
		t.Skip(err)
	}
	f := &file{fd: fd}
	defer f.Close()
	if err := unix.Ftruncate(fd, 8192); err != nil {
		t.Fatal(err)
	}
	m, err := f.Map(4096, 4096)
	if err != nil || len(m) != 4096 {
		t.Fatalf("got %d bytes, %v", len(m), err)
	}
	m[5] = 77
	var b [1]byte
	if _, err := unix.Pread(fd, b[:], 4101); err != nil || b[0] != 77 {
		t.Errorf("behind the mapping: got %d, %v", b[0], err)
	}
	if err := f.Unmap(m); err != nil {
		t.Error(err)
	}
}
