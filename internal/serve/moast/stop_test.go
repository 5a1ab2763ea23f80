package moast_test

import (
	"testing"
	"time"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/protocols/moast"
	"github.com/halyard-robotics/halyard/internal/serve/servetest"
)

// TestLeaseEndsWithStop: a stop, and the end of the superior's connection, free the robot's lease; after reset and arm
// nothing moves until a superior commands again.
func TestLeaseEndsWithStop(t *testing.T) {
	cfg, err := halyard.Parse("stop", []byte(`name: stop
clock: {mode: realtime, period: 10ms}
world: {scene: flat, seed: 1}
agents:
  - {name: p2at, model: usarsim-pioneer, pose: {position: [0, 0, 0.2]}}
servers:
  - {protocol: nml, agent: p2at, listen: "127.0.0.1:0", levels: "servo,prim"}
`))
	if err != nil {
		t.Fatal(err)
	}
	sys, servers := servetest.Serve(t, cfg)
	agent := sys.Rig().Agent("p2at")
	holder := func(what, want string) {
		t.Helper()
		for end := time.Now().Add(time.Minute); agent.Holder() != want; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s: lease held by %q, want %q", what, agent.Holder(), want)
			}
		}
	}
	p := &peer{t: t, address: servers[0].Address, vehicle: 1, serial: 10}
	p.do("primMobJA", 0, &moast.Plain{Kind: moast.ModuleNamed("primMobJA").ID(moast.Cmd, "Init")}, moast.Done)
	cmd := p.open("primMobJACmd1")
	drive := func() {
		p.serial++
		if err := cmd.Write(&moast.PrimMobCmdVel{CmdHead: moast.CmdHead{Serial: p.serial}, V: 0.2}, false); err != nil {
			t.Fatal(err)
		}
	}
	drive()
	holder("driving", "nml")
	moved := func(n *moast.NavDataExt) bool { return n.Rel.Tran.X > 0.1 }
	p.until("driven", moved)

	if err := sys.Stop("test"); err != nil {
		t.Fatal(err)
	}
	holder("stopped", "")
	if err := sys.Reset(); err != nil {
		t.Fatal(err)
	}
	if err := sys.Arm(); err != nil {
		t.Fatal(err)
	}
	ticks := func() uint64 {
		var s hal.Stats
		sys.Rig().Stats(&s)
		return s.Ticks
	}
	goes := ticks()
	for end := time.Now().Add(time.Minute); ticks() < goes+100; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the rig stands still")
		}
	}
	holder("armed again", "")
	for i, g := range agent.Goals(nil) { // the wheels coast meanwhile: they have no brake
		if g.Mode != hal.NoMode && g.Value != 0 {
			t.Errorf("armed again: wheel %d: got goal %+v", i, g)
		}
	}
	drive()
	holder("driving again", "nml")
	if err := cmd.Close(); err != nil {
		t.Fatal(err)
	}
	holder("superior gone", "")
}
