package moast_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/internal/protocols/moast"
	"github.com/halyard-robotics/halyard/internal/protocols/nml"
	"github.com/halyard-robotics/halyard/internal/serve/servetest"
)

const fleet = `name: fleet
clock: {mode: realtime, period: 10ms}
world: {scene: flat, seed: 1}
agents:
  - {name: omni, model: usarsim-omnidrive, pose: {position: [0, 0, 0.12]}}
  - {name: car, model: usarsim-rover, pose: {position: [0, 5, 0.2]}}
  - {name: tracks, model: usarsim-tarantula, pose: {position: [0, 10, 0.11]}}
  - {name: p2at, model: usarsim-pioneer, pose: {position: [0, 15, 0.2]}}
servers:
  - {protocol: nml, agent: omni, listen: "127.0.0.1:0", levels: servo}
  - {protocol: nml, agent: car, listen: "127.0.0.1:0", levels: servo}
  - {protocol: nml, agent: tracks, listen: "127.0.0.1:0", levels: servo}
  - {protocol: nml, agent: p2at, listen: "127.0.0.1:0", levels: servo, utm_offset: [100, 200, 0]}
`

// peer is a superior of one vehicle over TCP.
type peer struct {
	t       *testing.T
	address string
	vehicle int
	serial  int32
}

func (p *peer) open(buffer string) *nml.Client {
	p.t.Helper()
	host, port := p.address[:len("127.0.0.1")], 0
	fmt.Sscan(p.address[len("127.0.0.1:"):], &port)
	// a server finds a buffer by its number: ask until the name fits
	for n := int32(1); n < 80; n++ {
		c, err := nml.Dial(nml.BufferLine{Name: buffer, Host: host, Port: port, Number: n, Size: 1 << 20})
		if err == nil {
			p.t.Cleanup(func() { c.Close() })
			return c
		}
	}
	p.t.Fatalf("no buffer %s", buffer)
	return nil
}

// do sends a command to a module and waits for its end.
func (p *peer) do(module string, subsystem int, c moast.Command, want moast.Status) *moast.StatHead {
	p.t.Helper()
	m := moast.ModuleNamed(module)
	p.serial++
	c.Head().Serial = p.serial
	stat := p.open(m.Buffer(moast.Stat, p.vehicle, subsystem))
	if err := p.open(m.Buffer(moast.Cmd, p.vehicle, subsystem)).Write(c, false); err != nil {
		p.t.Fatal(err)
	}
	for range 2000 {
		got, err := stat.BlockingRead(moast.New, 5*time.Second)
		if err != nil {
			p.t.Fatal(err)
		}
		if h := got.(moast.Reporter).Report(); h.EchoSerial == p.serial && h.Status != moast.Exec {
			if h.Status != want {
				p.t.Errorf("%s: got %v %q, want %v", moast.Symbol(h.CommandType), h.Status, h.Message, want)
			}
			return h
		}
	}
	p.t.Fatalf("%s: got no end", moast.Symbol(c.MessageType()))
	return nil
}

// until waits until navDataExt says so.
func (p *peer) until(what string, enough func(n *moast.NavDataExt) bool) {
	p.t.Helper()
	nav := p.open(moast.NavDataBuffer(p.vehicle))
	var last moast.NavDataExt
	for range 6000 { // of the wall clock: a busy machine moves it late
		got, err := nav.BlockingRead(moast.New, 5*time.Second)
		if err != nil {
			p.t.Fatal(err)
		}
		if last = *got.(*moast.NavDataExt); enough(&last) {
			return
		}
	}
	p.t.Errorf("%s: got absolute %+v, relative %+v", what, last.Abs, last.Rel)
}

// TestFleet: simulated vehicles of four kinds do their own commands: one slides to its right, one steers to the right,
// one turns its flippers, one aims its camera, switches its light on and is placed elsewhere.
func TestFleet(t *testing.T) {
	cfg, err := halyard.Parse("fleet", []byte(fleet))
	if err != nil {
		t.Fatal(err)
	}
	_, servers := servetest.Serve(t, cfg)
	peers := map[string]*peer{}
	for i, s := range servers {
		peers[s.Agent] = &peer{t: t, address: s.Address, vehicle: i + 1, serial: 10}
	}
	for _, p := range peers {
		p.do("servoMobJA", 0, &moast.Plain{Kind: 4001}, moast.Done)
	}
	omni, car, tracks, p2at := peers["omni"], peers["car"], peers["tracks"], peers["p2at"]

	omni.do("servoMobJA", 0, &moast.ServoMobCmdSkid{Left: 1, Right: 1}, moast.Error)
	omni.do("servoMobJA", 0, &moast.ServoMobCmdOmni{Lateral: 0.2}, moast.Done)
	omni.until("to the right", func(n *moast.NavDataExt) bool {
		return n.Rel.Tran.Y > 0.2 && math.Abs(n.Rel.Tran.X) < 0.1 && math.Abs(n.Abs.RPY.Y) < 0.2
	})
	omni.do("servoMobJA", 0, &moast.ServoMobCmdOmni{Rotation: 0.5}, moast.Done)
	omni.until("clockwise", func(n *moast.NavDataExt) bool { return n.Abs.RPY.Y > 0.3 })

	car.do("servoMobJA", 0, &moast.ServoMobCmdAckerman{Velocity: 0.5, SteerAngle: 0.4}, moast.Done)
	car.until("a right turn", func(n *moast.NavDataExt) bool { return n.Abs.RPY.Y > 0.3 && n.Rel.Tran.X > 0.1 })

	pioneer := p2at.vehicle
	tracks.do("servoMobJA", 0, &moast.ServoMobCmdFlipSkid{Flippers: []moast.Flipper{{Kind: 1, Angle: 0.5}}}, moast.Done)
	stat := tracks.open(fmt.Sprintf("servoMobJAStat%d", tracks.vehicle))
	for i := 0; ; i++ {
		m, err := stat.BlockingRead(moast.New, 5*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		flippers := m.(*moast.ServoMobStatGround).Flippers
		if len(flippers) == 4 && flippers[0].Kind == 1 && math.Abs(flippers[0].Angle-0.5) < 0.1 &&
			math.Abs(flippers[1].Angle) < 0.1 {
			break
		}
		if i == 500 {
			t.Fatalf("flippers: got %+v, want 0.5 of the front left one", flippers)
		}
	}

	p2at.do("servoMisJA", 1, &moast.Plain{Kind: 3001}, moast.Done)
	p2at.do("servoMisJA", 1, &moast.ServoMisCmdMove{Links: []moast.LinkCmd{{Value: 0.4}, {Value: 0.2}}}, moast.Done)
	p2at.do("servoMisJA", 1, &moast.ServoMisCmdMove{Links: []moast.LinkCmd{{Value: 9}}}, moast.Error)
	m, err := p2at.open(fmt.Sprintf("servoMisJASet%d_1", pioneer)).Peek(moast.New)
	if set, ok := m.(*moast.ServoMisSet); err != nil || !ok || set.Name != "CameraPanTilt" || len(set.Links) != 2 {
		t.Errorf("package: got %+v, %v", m, err)
	}
	p2at.do("servoEffJA", 0, &moast.Plain{Kind: 5001}, moast.Done)
	p2at.do("servoEffJA", 0, &moast.ServoEffCmdOpcode{Effector: 1, Opcode: 1}, moast.Done)
	p2at.do("servoEffJA", 0, &moast.ServoEffCmdOpcode{Effector: 9, Opcode: 1}, moast.Error)
	goal := moast.PoseAt(moast.Cartesian{X: 103, Y: 182, Z: -0.2}, moast.RPY{Y: 1})
	if err := p2at.open(fmt.Sprintf("servoMobJACfg%d", p2at.vehicle)).Write(
		&moast.ServoMobCfgTeleport{CmdHead: moast.CmdHead{Serial: 9}, Goal: goal}, false); err != nil {
		t.Fatal(err)
	}
	p2at.until("placed", func(n *moast.NavDataExt) bool {
		return math.Abs(n.Abs.Tran.X-103) < 0.1 && math.Abs(n.Abs.Tran.Y-182) < 0.1 && math.Abs(n.Abs.RPY.Y-1) < 0.1
	})
}
