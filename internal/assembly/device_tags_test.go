package assembly_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/rigtest"
	gamebotsserve "github.com/halyard-robotics/halyard/internal/serve/gamebots"
	"github.com/halyard-robotics/halyard/protocols/gamebots"
	"github.com/halyard-robotics/halyard/sim"
)

// The tags of the arena pass through emulated readers and their drivers: by number, where the scene's reader finds
// them.
func TestReadersOfTags(t *testing.T) {
	for _, c := range []struct{ name, device, bus, baud string }{
		{"rdm6300", "rdm6300", "tags", ""}, {"pn532 on a line", "pn532", "nfc", ""},
		{"pn532 on i2c", "pn532", "main", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			rig := strings.Replace(rigtest.Seeker, "{bus: tags, device: rdm6300}",
				fmt.Sprintf("{bus: %s, device: %s}", c.bus, c.device), 1)
			if c.bus == "main" { // one of its kind on a bus
				rig = strings.Replace(rig, "{bus: main, device: pn532, rate: 20}",
					"{bus: nfc, device: pn532, rate: 20}", 1)
			}
			s := rigtest.Step(t, rigtest.PlanOf(t, rigtest.RigOf(t, rig, ""), configs.Options{}))
			told := rigtest.Listeners(t, s)
			first := rigtest.SensorOf(t, s.Agent.Layout(), "rfid").First
			for _, at := range []struct {
				x, y float64
				want []int
			}{{3.3, -1.9, []int{1}}, {6, -1.9, nil}, {8.1, -4.3, []int{2}}} {
				if got := s.At(t, told["rfid"], at.x, at.y, time.Second); !slices.Equal(got, at.want) {
					t.Errorf("at %g, %g: got %d, want %d", at.x, at.y, got, at.want)
				}
				if n := s.Agent.Measured(nil)[first]; int(n) != len(at.want) {
					t.Errorf("at %g, %g: got a count of %g, want %d", at.x, at.y, n, len(at.want))
				}
			}
			// Jim's number is his place in the arena's list; his name no reader knows.
			if got := s.At(t, told["victrfid"], 2.1, -4.35, time.Second); !slices.Equal(got, []int{0}) {
				t.Errorf("at the victim: got %d, want 0", got)
			}
			for _, name := range []string{"rfid", "victrfid"} {
				if d := s.Device(name); d.Err != nil {
					t.Errorf("%s: %v", name, d.Err)
				}
			}
		})
	}
}

// A tag that answers once alone is read all the same, for it stays in the field until a reader has looked.
func TestReaderOfSingleShot(t *testing.T) {
	s := rigtest.Step(t, rigtest.PlanOf(t, rigtest.RigOf(t, rigtest.Seeker, ""), configs.Options{}))
	list := rigtest.Listeners(t, s)["rfid"]
	s.Sys.Rig.BetweenCycles(func() {
		if err := s.Sys.Scene.Place("seeker",
			hal.Pose{Position: [3]float64{0.7, -7.9, -1.82}, Rotation: [4]float64{1}}); err != nil {
			t.Error(err)
		}
	})
	s.Run(time.Second)
	if got := slices.Compact(*list); !slices.Equal(got, []int{3}) {
		t.Errorf("got %d, want 3", got)
	}
	if got := s.At(t, list, 0.9, -7.9, time.Second); len(got) != 0 {
		t.Errorf("a second time: got %d, want nothing", got)
	}
}

// Tags of a field come the nearest first, and what a cycle does with them allocates nothing.
func TestFieldOfTags(t *testing.T) {
	f := &catalog.Field{GroundTruth: &catalog.GroundTruth{Frame: &hal.Frame{Time: time.Second}}}
	look := func() {
		f.Find(sim.Found{Tag: 7, At: [3]float64{0.2, 0.1, 0}})
		f.Find(sim.Found{Tag: 3, At: [3]float64{0.1, 0, 0}})
		f.Find(sim.Found{Tag: 9, At: [3]float64{0.1, 0, 0}})
	}
	look()
	if got := f.Now(); !slices.Equal(got, []uint32{3, 9, 7}) {
		t.Errorf("got %d, want the nearest first", got)
	}
	if n := testing.AllocsPerRun(100, func() { look(); f.Now() }); n != 0 {
		t.Errorf("got %g allocations, want 0", n)
	}
	f.GroundTruth.Frame.Time += catalog.Dwell + 1
	if got := f.Now(); len(got) != 0 {
		t.Errorf("a while later: got %d", got)
	}
}

// What a client of Gamebots is told comes of the devices; where there are none, of the scene.
func TestReadersTellGamebots(t *testing.T) {
	s := rigtest.Step(t, rigtest.PlanOf(t, rigtest.RigOf(t, rigtest.Seeker, ""), configs.Options{}))
	l := s.Agent.Layout()
	r := &gamebots.Robot{Sensors: []gamebots.Sensor{{Index: catalog.SensorIndex(l, "rfid")},
		{Index: catalog.SensorIndex(l, "victrfid")}, {Index: 0}}}
	gamebotsserve.ListenTags(s.Sys, 0, r)
	if r.Sensors[0].Hits == nil || r.Sensors[1].Hits == nil || r.Sensors[2].Hits != nil {
		t.Errorf("got %+v", r.Sensors)
	}
	// The scene's reader has a listener already, the emulated device: a second would take its tags away.
	if err := s.Sys.Scene.Body("seeker").Listen(catalog.SensorIndex(l, "rfid"), nil); err != nil {
		t.Error(err)
	}
}
