package calibrate

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/builtin"
)

// walker writes the config and the model of a robot that stands on four legs, and walks by them.
func walker(t *testing.T) (config string) {
	t.Helper()
	model := "name: walker\nsupply: {volts: 7.4}\nbodies:\n  - {name: torso, position_m: [0, 0, 0.16], mass_kg: 4, " +
		"shapes: [{box: [0.3, 0.16, 0.04]}]}\n"
	joints, servos := "joints:\n", ""
	for i, leg := range []string{"left_front", "right_front", "left_rear", "right_rear"} {
		x, y := []float64{0.12, 0.12, -0.12, -0.12}[i], []float64{0.1, -0.1, 0.1, -0.1}[i]
		model += fmt.Sprintf("  - {name: %s, position_m: [%g, %g, 0.08], mass_kg: 0.1, shapes: [{box: [0.02, 0.02, "+
			"0.14]}]}\n", leg, x, y)
		joints += fmt.Sprintf("  - {name: %s_hip, servo: sts3215, modes: [position], limits_deg: [-60, 60], "+
			"default_deg: 0, parent: torso, child: %s, anchor_m: [%g, %g, 0.16], axis: [0, 1, 0]}\n", leg, leg, x, y)
		servos += fmt.Sprintf("        %s_hip: {bus: legs, id: %d, model: sts3215}\n", leg, i+1)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"walker-model.yaml": model + joints,
		"walker.yaml": "name: walker\nclock: {period: 10ms}\nworld: {scene: flat, seed: 1}\nbuses:\n  legs: {type: " +
			"feetech, port: /dev/ttyUSB0, baud: 1000000}\n" +
			"agents:\n  - name: walker\n    model: walker-model.yaml\n    body: emulated\n    hardware:\n      " +
			"joints:\n" + servos,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "walker.yaml")
}

// A body on legs: the ground, which no joint knows of, turns its joints, so that no cause is named, neither live nor by
// moving it.
func TestTwinOfMovingBase(t *testing.T) {
	config := walker(t)
	cfg, err := configs.Load(config,
		configs.Options{Set: []string{"agents[0].shadow=true",
			"agents[0].hardware.joints.left_front_hip.ground_truth.zero=2500"}})
	if err != nil {
		t.Fatal(err)
	}
	sys, err := halyard.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer sys.Close()
	var text shared
	w := WatchResiduals(sys.Rig(), cfg, builtin.Catalog(), slog.New(slog.NewTextHandler(&text, nil)))
	a := sys.Agent("walker")
	for n := range 1500 {
		for i, j := range a.Joints() {
			if err := a.Command(j, halyard.Position(0.4*math.Sin(0.03*float64(n)+float64(i%3)*math.Pi/2))); err != nil {
				t.Fatal(err)
			}
		}
		if err := sys.Step(); err != nil {
			t.Fatal(err)
		}
	}
	differs := 0
	for _, r := range w.Close() {
		if math.IsNaN(float64(r.Since)) {
			continue
		}
		if differs++; r.Cause != "" || !strings.Contains(r.Found, "base moves") {
			t.Errorf("live: got %+v, want no cause, since the base moves", r)
		}
	}
	if differs == 0 || strings.Contains(text.String(), "why a joint") {
		t.Errorf("got %d joints that differ, and %s", differs, text.String())
	}
	g, out := guide(t, t.TempDir(), strings.Repeat("\n", 6), configs.Options{Body: "emulated"})
	g.Config = config
	if rows, err := g.Twin(context.Background()); hal.KindOf(err) != hal.Invalid ||
		!strings.Contains(err.Error(), "base moves") || len(rows) > 0 {
		t.Errorf("moved: got %+v, %v, want a refusal, since the base moves\n%s", rows, err, out)
	}
}
