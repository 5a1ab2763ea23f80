package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/builtin"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/internal/protocols/imageserver"
	"github.com/halyard-robotics/halyard/internal/rigtest"
	gamebotsserve "github.com/halyard-robotics/halyard/internal/serve/gamebots"
	"github.com/halyard-robotics/halyard/protocols/gamebots"
	"github.com/halyard-robotics/halyard/sim"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// seeker is a rescue robot whose readers are devices.
const seeker = `
name: seeker
clock: {mode: lockstep, period: 10ms}
world: {scene: yellow, seed: 1}
buses:
  tags: {type: serial, port: /dev/serial/by-id/nobody-1, baud: 9600}
  nfc: {type: serial, port: /dev/serial/by-id/nobody-2, baud: 115200}
  main: {type: i2c, port: /dev/i2c-nobody}
agents:
  - name: seeker
    model: usarsim-p2at
    parts: {rfid: emulated, victrfid: emulated}
    hardware:
      sensors:
        rfid: {bus: tags, device: rdm6300}
        victrfid: {bus: main, device: pn532, rate: 20}
servers: []
`

// listeners are what the readers of a robot tell.
func listeners(t *testing.T, s *rigtest.Stepped) map[string]*[]int {
	t.Helper()
	told := map[string]*[]int{}
	for _, name := range []string{"rfid", "victrfid"} {
		source, ok := s.Sys.Sources[plan.JointRef{Agent: 0, Joint: catalog.SensorIndex(s.Agent.Layout(), name)}].(catalog.Tagged)
		if list := (&[]int{}); ok && source.Listen(func(tag int) { *list = append(*list, tag) }) {
			told[name] = list
		} else {
			t.Fatalf("%s reads no tags", name)
		}
	}
	return told
}

// The tags of the arena pass through emulated readers and their drivers: by number, where the scene's reader finds
// them.
func TestReadersOfTags(t *testing.T) {
	for _, c := range []struct{ name, device, bus, baud string }{
		{"rdm6300", "rdm6300", "tags", ""}, {"pn532 on a line", "pn532", "nfc", ""},
		{"pn532 on i2c", "pn532", "main", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			rig := strings.Replace(seeker, "{bus: tags, device: rdm6300}",
				fmt.Sprintf("{bus: %s, device: %s}", c.bus, c.device), 1)
			if c.bus == "main" { // one of its kind on a bus
				rig = strings.Replace(rig, "{bus: main, device: pn532, rate: 20}",
					"{bus: nfc, device: pn532, rate: 20}", 1)
			}
			s := rigtest.Step(t, rigtest.PlanOf(t, rigtest.RigOf(t, rig, ""), configs.Options{}))
			told := listeners(t, s)
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
	s := rigtest.Step(t, rigtest.PlanOf(t, rigtest.RigOf(t, seeker, ""), configs.Options{}))
	list := listeners(t, s)["rfid"]
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
	s := rigtest.Step(t, rigtest.PlanOf(t, rigtest.RigOf(t, seeker, ""), configs.Options{}))
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

// A reader that does not answer is a fault, and recovered when it does; the doctor looks at readers too.
func TestReaderLost(t *testing.T) {
	s := rigtest.Step(t, rigtest.PlanOf(t, rigtest.RigOf(t, seeker, ""), configs.Options{}))
	told := listeners(t, s)["victrfid"]
	bus := s.Sys.Emulation.Buses["main"]
	s.Run(500 * time.Millisecond)
	bus.Fault(wire.Fault{Kind: wire.PowerLoss, Target: 0x24})
	s.Run(time.Second)
	if d := s.Device("victrfid"); hal.KindOf(d.Err) != hal.Absent || !s.Saw("/seeker/victrfid/Fault") {
		t.Errorf("off: got %v", d.Err)
	}
	bus.ClearFaults()
	if got := s.At(t, told, 2.1, -4.35, time.Second); !slices.Equal(got, []int{0}) || s.Device("victrfid").Err != nil {
		t.Errorf("on again: got %d, %v", got, s.Device("victrfid").Err)
	}
	path := rigtest.RigOf(t, seeker, "")
	if code, out, text := runApp(t, "doctor", path, "--set", "agents[0].parts={rfid: emulated, victrfid: emulated}",
		"-o", "jsonl"); code != 0 ||
		!strings.Contains(out, `"found":"rdm6300 measures [0]"`) ||
		!strings.Contains(out, `"found":"pn532 measures [0]"`) {
		t.Errorf("doctor: exit %d: %s\n%s", code, text, out)
	}
	for set, want := range map[string]string{
		"agents[0].hardware.sensors.rfid.bus=main": "want a bus of type serial, for rdm6300",
		"agents[0].hardware.sensors.rfid.device=bno055": "want one of pn532, rdm6300, for the " +
			"sensor is of kind rfid",
		"buses.tags.baud=115200": "buses.tags.baud: got 115200, want 9600, " +
			"for rdm6300",
		"agents[0].hardware.sensors.victrfid.address=0x25":              "got 0x25, want 0x24",
		"agents[0].hardware.sensors.odometry={bus: nfc, device: pn532}": "sensors.odometry.device: got pn532",
	} {
		c, err := configs.Load(path, configs.Options{Set: []string{set}})
		if err != nil {
			t.Errorf("%s: %v", set, err)
			continue
		}
		if _, err := plan.Resolve(c, builtin.Catalog()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", set, err, want)
		}
	}
}

// A spawned robot whose readers and camera are emulated devices: a client of USARSim is notified of tags and victims by
// number, as a real one tells of them, and the image server shows its camera's pictures.
func TestUSARSimReaders(t *testing.T) {
	_, head, _ := strings.Cut(seeker, "buses:")
	buses, hardware, _ := strings.Cut(head, "agents:")
	_, hardware, _ = strings.Cut(hardware, "    hardware:\n")
	hardware = strings.Replace(hardware, "servers: []\n", "", 1)
	rig := "name: seekers\nclock: {mode: realtime, period: 10ms}\nworld: {scene: yellow, seed: 1}\nbuses:" + buses +
		`classes:
  USARBot.P2AT:
    model: usarsim-p2at
    parts: {rfid: emulated, victrfid: emulated, camera: emulated}
    hardware:
` + hardware + `      cameras:
        camera: {device: v4l2, width: 80, height: 60, rate: 25, format: yuyv}
servers:
  - {protocol: gamebots, listen: "127.0.0.1:0"}
  - {protocol: imageserver, listen: "127.0.0.1:0", format: raw}
`
	r := startServe(t, rigtest.RigOf(t, rig, ""))
	c := gamebotsClient(t, r)
	c.spawn("USARBot.P2AT", "R1", [3]float64{3.1, 1.9, 1.82})
	for n := 0; ; n++ {
		m := c.wait("SEN", "Type", "RFID")
		if m.Text("ID") == "1" {
			break
		}
		if id := m.Text("ID"); id != "" || n > 100 {
			t.Fatalf("message %d: got tag %q, want 1", n, id)
		}
	}
	eye, err := imageserver.Dial(r.address(t, "imageserver"), 20*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer eye.Close()
	for n := 0; ; n++ {
		p, err := eye.Next()
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Data) >= 80*60*3 && len(p.Data) < 81*60*3 {
			break
		}
		if n > 100 {
			t.Fatalf("got pictures of %d bytes, want 80 by 60", len(p.Data))
		}
		if err := eye.Acknowledge(); err != nil {
			t.Fatal(err)
		}
	}
	d := gamebotsClient(t, r)
	d.spawn("USARBot.P2AT", "R2", [3]float64{1.9, 4.35, 1.82})
	for n := 0; ; n++ {
		m := d.wait("SEN", "Type", "VictRFID")
		if m.Text("ID") == "0" && m.Text("State") == "None" {
			break
		}
		if id := m.Text("ID"); id != "" || n > 100 {
			t.Fatalf("message %d: got victim %q, want number 0", n, id)
		}
	}
}
