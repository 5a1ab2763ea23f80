package cli

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/builtin"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/internal/protocols/imageserver"
	"github.com/halyard-robotics/halyard/internal/rigtest"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// A reader that does not answer is a fault, and recovered when it does; the doctor looks at readers too.
func TestReaderLost(t *testing.T) {
	s := rigtest.Step(t, rigtest.PlanOf(t, rigtest.RigOf(t, rigtest.Seeker, ""), configs.Options{}))
	told := rigtest.Listeners(t, s)["victrfid"]
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
	path := rigtest.RigOf(t, rigtest.Seeker, "")
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
	_, head, _ := strings.Cut(rigtest.Seeker, "buses:")
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
