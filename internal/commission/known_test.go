package commission

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/catalog"
)

// Every known robot is recognised by its own servos, also with one missing, and its config is written for its ports.
func TestKnownRobots(t *testing.T) {
	robots := KnownRobots(catalog.BuiltinBuses())
	if len(robots) < 5 {
		t.Fatalf("got %d known robots", len(robots))
	}
	for _, k := range robots {
		found := map[string][]FoundServo{}
		for _, bus := range k.Lines() {
			for id, j := range k.joints(bus) {
				found["/dev/serial/by-id/usb-"+bus] = append(found["/dev/serial/by-id/usb-"+bus],
					FoundServo{Type: k.Config.Buses[bus].Type, ID: id, Model: j.Model})
			}
		}
		best, share := Recognise(robots, found)
		if best == nil || best.Name != k.Name || share != 1 {
			t.Errorf("%s: got %+v, %g", k.Name, best, share)
			continue
		}
		file := filepath.Join(t.TempDir(), "robot.yaml")
		if err := k.Write(file, "mine", k.Ports(found)); err != nil {
			t.Error(k.Name, err)
			continue
		}
		c, err := configs.Load(file, configs.Options{})
		if err != nil || c.Name != "mine" || !c.Agents[0].Has(configs.Real) || c.Agents[0].HasOther(configs.Real) {
			t.Errorf("%s: got %v, %v", k.Name, c, err)
			continue
		}
		for bus, b := range c.Buses {
			if !strings.HasPrefix(b.Port, "/dev/serial/by-id/usb-"+bus) {
				t.Errorf("%s: bus %s at %s", k.Name, bus, b.Port)
			}
		}
		if err := k.Write(file, "mine", nil); hal.KindOf(err) != hal.Busy {
			t.Errorf("%s: a second time: got %v, want that the file is kept", k.Name, err)
		}
	}
	found := map[string][]FoundServo{"p": {{Type: "feetech", ID: 1, Model: "sts3215"},
		{Type: "feetech", ID: 2, Model: "sts3215"}}}
	if best, share := Recognise(robots, found); best == nil || best.Name != "so101" || share > 0.5 {
		t.Errorf("two servos: got %v, %g", best, share)
	}
	if best, _ := Recognise(robots, map[string][]FoundServo{"p": nil}); best != nil {
		t.Errorf("nothing: got %v", best)
	}
	for _, name := range []string{"", "../x", "A b", "x:y"} {
		if err := robots[0].Write(filepath.Join(t.TempDir(), "r.yaml"), name, nil); hal.KindOf(err) != hal.Invalid {
			t.Errorf("name %q: got %v", name, err)
		}
	}
	if _, err := os.Stat("robot.yaml"); err == nil {
		t.Error("a file was written")
	}
}
