package doctor_test

import (
	"encoding/json"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/internal/commission/doctor"
	"github.com/halyard-robotics/halyard/internal/commission/host"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/internal/rigtest"
)

func TestListPorts(t *testing.T) {
	root := rigtest.Machine(t, map[string]string{
		"proc/812/fd/7": "-> /dev/ttyUSB0", "proc/812/cmdline": "lerobot\x00", "proc/99/comm": "ModemManager\n",
	})
	rows, err := host.ListPorts(root)
	if err != nil || len(rows) != 1 {
		t.Fatalf("got %+v, %v, want one adapter", rows, err)
	}
	r := rows[0]
	if r.Port != doctor.AdapterName || r.Device != "/dev/ttyUSB0" || r.Chip != "FT232H" || r.Access != "ok" ||
		r.Held != "pid 812 (lerobot)" || r.Latency != 16 || !strings.Contains(r.Likely, "U2D2") {
		t.Errorf("got %+v", r)
	}
	var notes []string
	for _, n := range r.Notes {
		notes = append(notes, n.Found+" -> "+n.Fix)
	}
	text := strings.Join(notes, "\n")
	for _, want := range []string{"held by pid 812 (lerobot) -> stop it: kill 812", "latency timer is 16ms",
		"ttyUSB0/latency_timer",
		"ModemManager runs (pid 99)", "systemctl disable --now ModemManager"} {
		if !strings.Contains(text, want) {
			t.Errorf("notes lack %q: %s", want, text)
		}
	}
	if len(notes) != 3 {
		t.Errorf("got %d notes, want 3: %s", len(notes), text)
	}
}

func TestListPortsDenied(t *testing.T) {
	rows, err := host.ListPorts(rigtest.Machine(t, map[string]string{"dev/ttyUSB0": "gone"}))
	if err != nil || len(rows) != 1 || rows[0].Access != "denied" ||
		!strings.Contains(rows[0].Notes[0].Fix, "halyard ports --udev") {
		t.Errorf("got %+v, %v", rows, err)
	}
	if fix := host.AccessFix(`you are not in group "uucp"`); !strings.Contains(fix, "usermod -aG uucp $USER") {
		t.Errorf("got %q", fix)
	}
	if rows, err := host.ListPorts(t.TempDir()); err != nil || rows == nil || len(rows) != 0 {
		t.Errorf("a machine without serial ports: got %v, %v, want none", rows, err)
	}
}

func TestPortRowJSON(t *testing.T) {
	text, err := json.Marshal(host.PortRow{Port: "/dev/ttyACM0", Latency: report.Number(math.NaN())})
	if want := `"latency_ms":null`; err != nil || !strings.Contains(string(text), want) {
		t.Errorf("got %s, %v, want %s", text, err, want)
	}
}

func TestMeddlers(t *testing.T) {
	root := rigtest.Machine(t, map[string]string{"proc/7/comm": "brltty\n", "proc/8/comm": "brltty\n",
		"proc/self/comm": "ModemManager\n"})
	if got := host.ConflictsIn(filepath.Join(root, "proc")); len(got) != 1 || !strings.Contains(got[0].Found, "pid 7") {
		t.Errorf("got %+v, want brltty once", got)
	}
}
