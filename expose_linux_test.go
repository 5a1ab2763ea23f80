package halyard_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/drivers/serial"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/internal/control"
)

// While a rig runs, a tool reads the same servos on a terminal, and a hand moves their joints.
func TestExpose(t *testing.T) {
	sys := open(t, "so101", halyard.Set("agents[0].body", "emulated"))
	dir := filepath.Join(t.TempDir(), "d")
	ports, err := sys.Expose(dir)
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "arm")
	if to, err := os.Readlink(link); len(ports) != 1 || err != nil || to != ports[0].Path ||
		ports[0].Baud != 1_000_000 {
		t.Fatalf("got %+v, %q, %v", ports, to, err)
	}
	line, err := serial.Open(link, 1_000_000, "")
	if err != nil {
		t.Fatal(err)
	}
	defer line.Close()
	ask := func(request, want string, patience time.Duration) {
		t.Helper()
		p, _ := hex.DecodeString(request)
		if _, err := line.Write(p); err != nil {
			t.Fatal(err)
		}
		var got []byte
		for until := time.Now().Add(patience); len(got) < len(want)/2 || want == ""; {
			var b [64]byte
			n, err := line.Read(b[:], time.Until(until))
			if got = append(got, b[:n]...); errors.Is(err, os.ErrDeadlineExceeded) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
		if exact, _ := hex.DecodeString(want); !bytes.Equal(got, exact) {
			t.Errorf("%s: got % x, want %s", request, got, want)
		}
	}
	steps(t, sys, 2)
	ask("ffff030201f9", "ffff030200fa", 10*time.Second) // a ping and its status
	ask("ffff0304", "", 0)                              // half an instruction is forgotten
	steps(t, sys, 3)
	ask("ffff0604020301ef", "ffff06030009ed", 10*time.Second) // the model's low byte
	arm := sys.Agent("so101")
	if st := arm.State("gripper"); st.Err != nil {
		t.Errorf("gripper: %v", st.Err)
	}

	hand := func(order string) (a assembly.HandAnswer) {
		t.Helper()
		if err := control.AskLine(t.Context(), filepath.Join(dir, assembly.HandSocket), order, &a); err != nil ||
			a.Error != "" {
			t.Fatalf("hand %s: %v %s", order, err, a.Error)
		}
		return a
	}
	hand("move shoulder_pan 0.6 0.2")
	steps(t, sys, 60)
	if got := arm.State("shoulder_pan").Position; math.Abs(got-0.6) > 0.01 {
		t.Errorf("moved by hand: got %.3f rad, want 0.6", got)
	}
	hand("unplug gripper")
	steps(t, sys, 30)
	if arm.State("gripper").Err == nil {
		t.Error("gripper: unplugged, and no fault")
	}
	ask("ffff060201f6", "", 50*time.Millisecond)
	if rows := hand("look").Joints; len(rows) != 6 || rows[5].Plugged || rows[0].Hand != "holds" {
		t.Errorf("look: got %+v", rows)
	}

	hand("plug gripper")
	steps(t, sys, 300)

	if _, err := open(t, "so101", halyard.Set("agents[0].body", "emulated")).Expose(dir); hal.KindOf(err) != hal.Busy {
		t.Errorf("a folder in use: got %v, want busy", err)
	}
	if _, err := open(t, "so101").Expose(filepath.Join(t.TempDir(), "e")); hal.KindOf(err) != hal.Invalid {
		t.Errorf("no emulated servo: got %v, want invalid", err)
	}
}

// The terminals and the hand end with the system.
func TestExposeEnds(t *testing.T) {
	cfg, err := halyard.Load("so101", halyard.Set("agents[0].body", "emulated"))
	if err != nil {
		t.Fatal(err)
	}
	sys, err := halyard.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if _, err := sys.Expose(dir); err != nil {
		t.Fatal(err)
	}
	if err := sys.Close(); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("got %v left, want an empty folder", left)
	}
}
