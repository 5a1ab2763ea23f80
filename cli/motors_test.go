package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal/haltest"
	"github.com/halyard-robotics/halyard/internal/commission/doctor"
	"github.com/halyard-robotics/halyard/internal/rigtest"
)

// A scan of a line finds its controllers, of a VESC also those behind it.
func TestScanOfMotors(t *testing.T) {
	for _, c := range []struct {
		kind, model string
		baud        int
		ids         []int
		want        string
	}{
		{"vesc", "vesc-6", 115200, []int{3, 7}, "3 6.05 VESC firmware 6.05 on 60_MK6: 7 pole pairs, timeout 1s, " +
			"none; 7 6.05 VESC firmware 6.05 on 60_MK6: 7 pole pairs, timeout 1s, none; "},
		{"odrive", "odrive-v3", 115200, []int{0, 1}, "0 0.5 a motor controller; it does not report its motor; 1 0.5 " +
			"a motor controller; it does not report its motor; "},
		{"odrive-can", "odrive-s1", 250000, []int{0, 62}, "0 0.6 a motor controller; it does not report its motor; " +
			"62 0.6 a motor controller; it does not report its motor; "},
		{"cybergear", "cybergear", 1000000, []int{1, 127}, "1  ; 127  ; "},
		{"cybergear", "cybergear", 1000000, nil, ""},
		{"vesc", "vesc-6", 115200, nil, ""},
	} {
		s := rigtest.SurveyOf(rigtest.BrandBus(t, c.kind, c.model, c.baud, c.ids...).Line())
		s.Bauds, s.Types, s.Duplex = []int{c.baud}, []string{c.kind}, true
		rows, err := s.Run(t.Context())
		got := ""
		for _, r := range rows {
			got += fmt.Sprint(r.ID, " ", r.Firmware, " ", r.Finding, "; ")
		}
		if err != nil || got != c.want {
			t.Errorf("%s: got %q, %v; want %q", c.kind, got, err, c.want)
		}
	}
	if code, _, text := runApp(t, "scan", "nocan7", "--protocol", "cybergear"); code != 3 ||
		!strings.Contains(text, "ip link set nocan7 up type can bitrate 1000000") {
		t.Errorf("no interface: got exit %d, %q", code, text)
	}
	if code, _, text := runApp(t, "scan", "/dev/no-such-port", "--protocol", "vesc"); code != 3 ||
		!strings.Contains(text, "halyard ports") {
		t.Errorf("no port: got exit %d, %q", code, text)
	}
}

// The example of docs/motors.md is whole: it validates, runs emulated, and the doctor finds nothing wrong with it.
func TestMotorsDocument(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "docs", "motors.md"))
	if err != nil {
		t.Fatal(err)
	}
	var blocks []string
	for _, part := range strings.Split(string(text), "```yaml\n")[1:] {
		block, _, _ := strings.Cut(part, "```")
		blocks = append(blocks, block)
	}
	if len(blocks) != 2 {
		t.Fatalf("got %d blocks, want the robot and its config", len(blocks))
	}
	dir := t.TempDir()
	for i, name := range []string{"arm.yaml", "my-arm.yaml"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(blocks[i]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	config := filepath.Join(dir, "my-arm.yaml")
	if code, _, text := runApp(t, "validate", config); code != 0 {
		t.Errorf("validate: exit %d, %s", code, text)
	}
	haltest.Run(t, func(t *testing.T) haltest.Subject {
		return rigtest.Subject(t, rigtest.PlanOf(t, config, configs.Options{}))
	})
	d, err := doctor.NewExamination(rigtest.PlanOf(t, config, configs.Options{}), "emulated", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, f := range d.Found {
		if f.State != doctor.StateOK {
			t.Errorf("doctor: got %+v", f)
		}
	}
}
