package control

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/haltest"
)

func openRig(t *testing.T) (*hal.Rig, *Control) {
	t.Helper()
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	rig, err := hal.New(hal.Config{Name: "arm", Period: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	body := haltest.NewBody("elbow")
	if _, err := rig.Add(hal.AgentConfig{Name: "left", Body: body, World: body}); err != nil {
		t.Fatal(err)
	}
	c, err := OpenControl(rig, Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return rig, c
}

func order(t *testing.T, o Order) (ans Answer) {
	t.Helper()
	conn, err := net.Dial("unix", ControlSocket("arm"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(time.Minute))
	fmt.Fprintln(conn, o)
	if err := json.NewDecoder(conn).Decode(&ans); err != nil {
		t.Fatalf("%s: %v", o, err)
	}
	io.Copy(io.Discard, conn)
	return ans
}

// TestSafety15FolderOfAnother: a folder that others may write to, a link or another user's is refused by both sides.
func TestSafety15FolderOfAnother(t *testing.T) {
	top := t.TempDir()
	good := filepath.Join(top, "good")
	if err := os.Mkdir(good, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := CheckFolder(good); err != nil {
		t.Errorf("own folder: got %v", err)
	}
	if err := CheckFolder(filepath.Join(top, "none")); hal.KindOf(err) != hal.Absent {
		t.Errorf("no folder: got %v, want absent", err)
	}
	for name, spoil := range map[string]func(dir string) error{
		"writable by others": func(dir string) error { return os.Chmod(dir, 0o777) },
		"readable by others": func(dir string) error { return os.Chmod(dir, 0o755) },
		"a link": func(dir string) error {
			return os.Rename(dir, dir+".real")
		},
		"another user's": func(dir string) error {
			if os.Geteuid() != 0 {
				return os.Chmod(dir, 0o770)
			}
			return os.Chown(dir, 12345, 12345)
		},
	} {
		t.Setenv("XDG_RUNTIME_DIR", filepath.Join(top, name))
		dir := Folder()
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := spoil(dir); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Lstat(dir); err != nil {
			os.Symlink(dir+".real", dir)
		}
		if err := CheckFolder(dir); hal.KindOf(err) != hal.Unsafe {
			t.Errorf("%s: a client: got %v, want refused", name, err)
		}
		if _, err := Send(t.Context(), "arm", OrderStop); hal.KindOf(err) != hal.Unsafe {
			t.Errorf("%s: estop: got %v, want refused: another may answer in the rig's place", name, err)
		}
		rig, _ := hal.New(hal.Config{Name: "arm", Period: time.Second})
		if c, err := OpenControl(rig, Hooks{}); hal.KindOf(err) != hal.Unsafe {
			t.Errorf("%s: a rig: got %v, want refused", name, err)
			if c != nil {
				c.Close()
			}
		}
	}
}

// TestSafety16StopBeforeTheCycle: a stop is answered while a thousand goroutines ask for the rig's edge all the time.
func TestSafety16StopBeforeTheCycle(t *testing.T) {
	rig, _ := openRig(t)
	done := make(chan struct{})
	defer close(done)
	for range 1000 {
		go func() {
			for {
				select {
				case <-done:
					return
				default:
					rig.BetweenCycles(func() { // the queue for it is never empty
						for end := time.Now().Add(20 * time.Microsecond); time.Now().Before(end); {
						}
					})
				}
			}
		}()
	}
	if ans := order(t, OrderStop); !ans.Rig.Stopped || len(ans.Joints) != 1 || ans.Joints[0].Acked == nil ||
		!*ans.Joints[0].Acked {
		t.Errorf("got %+v, want the joint's acknowledgement", ans)
	}
}

// TestSafety16StopPassesOtherOrders: a cycle hangs, and more clients than are served ask for the status and wait for
// it. A stop is executed all the same.
func TestSafety16StopPassesOtherOrders(t *testing.T) {
	rig, c := openRig(t)
	hangs, done := make(chan struct{}), make(chan struct{})
	go rig.BetweenCycles(func() { close(hangs); <-done })
	defer close(done)
	<-hangs
	for range maxOrders + 8 {
		conn, err := net.Dial("unix", ControlSocket("arm"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintln(conn, OrderStatus)
	}
	for len(c.orders) < maxOrders {
		runtime.Gosched()
	}
	if ans := order(t, OrderStop); !ans.Rig.Stopped || len(ans.Joints) != 1 || !rig.Latched() {
		t.Errorf("got %+v, latched %v, want a stop", ans, rig.Latched())
	}
}

// TestSafety18ResetWaits: a reset waits for a cause that passes by itself, the start of the next supervisor, and for no
// other.
func TestSafety18ResetWaits(t *testing.T) {
	rig, _ := openRig(t)
	asked, cause := 0, &hal.Error{Kind: hal.Busy, Op: "supervise"}
	rig.AddStopInput(func() error {
		if asked++; asked < 4 {
			return cause
		}
		return nil
	})
	rig.EmergencyStop("test")
	if ans := order(t, OrderReset); ans.Error != "" || asked != 4 || ans.Rig.Stopped {
		t.Errorf("a cause that passes: got %q after asking %d times", ans.Error, asked)
	}
	rig.EmergencyStop("test")
	asked, cause = 0, &hal.Error{Kind: hal.Unsafe, Op: "button"}
	if ans := order(t, OrderReset); ans.Kind != hal.Unsafe || asked != 1 || !ans.Rig.Stopped {
		t.Errorf("a cause that lasts: got %q after asking %d times", ans.Error, asked)
	}
}
