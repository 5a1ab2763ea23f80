package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRobot: a robot file is shown with its joints, weights and repairs, and the config it prints is valid.
func TestRobot(t *testing.T) {
	file := filepath.Join(t.TempDir(), "two link.urdf")
	const text = `<robot name="two link"><link name="base"/>
<link name="upper"><inertial><origin xyz="0 0 0.1"/><mass value="2"/><inertia ixx="0.01" iyy="0.01" izz="0.01"/></inertial></link>
<link name="jaw"><inertial><mass value="1"/></inertial></link>
<joint name="lift" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
<limit lower="-1.5707963" upper="1.5707963" effort="9" velocity="3"/></joint>
<joint name="grip" type="prismatic"><parent link="upper"/><child link="jaw"/><origin xyz="0 0 0.3"/>
<limit lower="0" upper="0.05" effort="20" velocity="0.1"/></joint></robot>`
	must(t, os.WriteFile(file, []byte(text), 0o600))
	code, out, err := runApp(t, "robot", file, "-o", "json")
	var list struct {
		Items []robotRow `json:"items"`
	}
	if e := json.Unmarshal([]byte(out), &list); code != 0 || e != nil || len(list.Items) != 3 {
		t.Fatalf("got exit %d, %s%s, %v", code, out, err, e)
	}
	// 2 kg at 0.1 m and 1 kg at 0.3 m, times 9.81 m/s².
	if l := list.Items[1]; l.Joint != "lift" || l.Parent != "base" || l.Holds < 4.9 || l.Holds > 4.91 || l.Servo == "" {
		t.Errorf("got %+v, want lift, which holds 4.905 N·m", l)
	}
	for _, want := range []string{"two link: 3 bodies, 2 joints with a motor, 0 without, 3 kg", "base fixed",
		`link "jaw".inertial.inertia: repaired: none`} {
		if !strings.Contains(err, want) {
			t.Errorf("got %s, want %s", err, want)
		}
	}
	if code, out, _ := runApp(t, "robot", file); code != 0 || !strings.Contains(out, "0 .. 50 mm") ||
		!strings.Contains(out, "-90.0° .. 90.0°") || !strings.Contains(out, "      jaw") &&
		!strings.Contains(out, "    jaw") {
		t.Errorf("got exit %d, %s", code, out)
	}
	code, out, err = runApp(t, "robot", file, "--config", "--base", "floating")
	config := filepath.Join(t.TempDir(), "arm.yaml")
	must(t, os.WriteFile(config, []byte(out), 0o600))
	if code != 0 || !strings.Contains(out, "name: two-link\n") || !strings.Contains(out, "base: floating") {
		t.Errorf("got exit %d, %s%s", code, out, err)
	}
	if code, out, err := runApp(t, "validate", config); code != 0 {
		t.Errorf("the config it prints: got exit %d, %s%s", code, out, err)
	}
	if code, out, err := runApp(t, "robot", "so101"); code != 0 || !strings.Contains(out, "sts3215") {
		t.Errorf("a robot that comes with it: got exit %d, %s%s", code, out, err)
	}
	if code, _, err := runApp(t, "robot", "nosuch.urdf"); code != 2 || !strings.Contains(err, "nosuch.urdf") {
		t.Errorf("got exit %d, %s", code, err)
	}
}
