package halyard_test

import (
	"testing"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/hal"
)

// The checks of halyard doctor are data for other programs: the emulated arm is sound, and a servo that the config
// calls by another model is the first finding.
func TestExamine(t *testing.T) {
	emulated := halyard.Set("agents[0].body", "emulated")
	found, err := halyard.Examine(t.Context(), "so101", emulated)
	if err != nil || len(found) == 0 {
		t.Fatalf("got %d findings, %v", len(found), err)
	}
	for _, f := range found {
		if f.State == "fail" {
			t.Errorf("%s: got %s (%s), want no failure", f.Check, f.Found, f.Fix)
		}
	}
	found, err = halyard.Examine(t.Context(), "so101", halyard.Set("buses.arm.port", "/dev/halyard-absent"))
	if err != nil || len(found) == 0 || found[0].State != "fail" || found[0].Check != "port" ||
		found[0].Kind != hal.Absent || found[0].Fix == "" {
		t.Errorf("without the port: got %+v, %v", found, err)
	}
	if _, err := halyard.Examine(t.Context(), "no such config"); hal.KindOf(err) != hal.Invalid {
		t.Errorf("no config: got %v, want hal.Invalid", err)
	}
}

// A simulated joint may have a board without its channel: it is listed without one.
func TestListOfAnUnfinishedJoint(t *testing.T) {
	cfg, err := halyard.Check("hobby-hexapod", halyard.Set("agents[0].hardware.joints.left_front_hip.channel", "null"))
	if err != nil {
		t.Fatal(err)
	}
	items, err := halyard.List(cfg)
	if err != nil || len(items) == 0 {
		t.Errorf("got %d items, %v", len(items), err)
	}
}
