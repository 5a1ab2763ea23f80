package echelon

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/internal/protocols/moast"
)

// TestSteering: each kind of vehicle does its own command and refuses the others.
func TestSteering(t *testing.T) {
	commands := map[moast.Steer]moast.Command{
		moast.SkidSteer: &moast.ServoMobCmdFlipSkid{Left: 2, Right: 3,
			Flippers: []moast.Flipper{{Kind: 1, Angle: 0.5}}},
		moast.AckermanSteer: &moast.ServoMobCmdAckerman{Velocity: 0.5, SteerAngle: 0.2, CrabAngle: 0.1},
		moast.OmniSteer:     &moast.ServoMobCmdOmni{Linear: 0.1, Lateral: 0.2, Rotation: 0.3},
	}
	for steer := range commands {
		r := newRover()
		r.steer, r.flips = steer, true
		s := start(t, r, "servoMobJA", Servo)
		s.init()
		for of, c := range commands {
			want := moast.Error
			if of == steer {
				want = moast.Done
			}
			s.send(c)
			s.until(1, want)
		}
		got := fmt.Sprint(r.rates, r.car, r.slide, r.flippers)
		want := map[moast.Steer]string{moast.SkidSteer: "[2 3] [0 0 0] [0 0 0] [{1 0.5}]",
			moast.AckermanSteer: "[0 0] [0.5 0.2 0.1] [0 0 0] []",
			moast.OmniSteer:     "[0 0] [0 0 0] [0.1 0.2 0.3] []"}[steer]
		if got != want {
			t.Errorf("steering %d: got %s, want %s", steer, got, want)
		}
		s.plain("Halt")
		s.until(1, moast.Done)
		if got := fmt.Sprint(r.rates, r.car, r.slide); got != "[0 0] [0 0 0] [0 0 0]" || r.released == 0 {
			t.Errorf("steering %d halted: got %s, %d releases", steer, got, r.released)
		}
	}
}

// TestPrimSteering: prim leads a car and an omnidirectional platform through the waypoints of a skid-steered vehicle.
func TestPrimSteering(t *testing.T) {
	for _, steer := range []moast.Steer{moast.AckermanSteer, moast.OmniSteer} {
		r := newRover()
		r.steer = steer
		s := start(t, r, "primMobJA", Servo, Prim)
		s.init()
		var points []moast.Waypoint
		for _, p := range [][2]float64{{2, 0}, {4, 1}, {4, 3}, {1, 3}} {
			points = append(points, moast.Waypoint{P: moast.Cartesian{X: p[0], Y: p[1]}, Neighborhood: 0.2, Speed: 0.4})
		}
		s.send(&moast.PrimMobCmdMoveWaypoint{Waypoints: points})
		s.until(60, moast.Done)
		if distance(r.at.x, r.at.y, 1, 3) > 0.25 {
			t.Errorf("steering %d: got %+v, want 1, 3", steer, r.at)
		}
		s.send(&moast.PrimMobCmdRotate{Theta: 0, Tolerance: 0.1, Direction: moast.Shortest})
		if steer == moast.OmniSteer {
			s.until(20, moast.Done)
		} else if h := s.until(20, moast.Error); !strings.Contains(h.Message, "on the spot") {
			t.Errorf("car: got %q", h.Message)
		}
	}
}

// TestMission: a package's links go to their values; speeds end with HALT; effectors take opcodes; a configuration
// places.
func TestMission(t *testing.T) {
	r := newRover()
	s := start(t, r, "servoMisJA", Servo)
	s.subsystem = 1
	s.pass(0.05)
	s.plain("Init")
	s.until(1, moast.Done)
	s.send(&moast.ServoMisCmdMove{Links: []moast.LinkCmd{{Value: 0.5}, {Value: 1, Tolerance: 0.1}}})
	s.until(2, moast.Done)
	if math.Abs(r.links[0].Value-0.5) > 0.02 || math.Abs(r.links[1].Value-1) > 0.11 {
		t.Errorf("links: got %+v, want 0.5 and 1", r.links)
	}
	m, _, err := s.h.Buffer("servoMisJAStat1_1").Read(moast.New, 0)
	if err != nil || len(m.(*moast.ServoMisStat).Links) != 2 {
		t.Errorf("status: got %+v, %v, want two links", m, err)
	}
	for _, links := range [][]moast.LinkCmd{nil, make([]moast.LinkCmd, 3), {{Value: math.NaN()}}, {{Value: 1.5}},
		{{Kind: 3}}} {
		s.send(&moast.ServoMisCmdMove{Links: links})
		s.until(1, moast.Error)
	}
	s.send(&moast.ServoMisCmdMove{Links: []moast.LinkCmd{{Value: 0.3, Kind: moast.LinkVelocity}}})
	s.until(1, moast.Done)
	s.pass(0.2)
	s.plain("Halt")
	s.until(1, moast.Done)
	at := r.links[0].Value
	if s.pass(1); r.links[0].Value != at || at < 0.55 || fmt.Sprint(r.given) != "[1]" {
		t.Errorf("a speed, halted: got %.2f, then %.2f, released %v", at, r.links[0].Value, r.given)
	}
	e := s.over("servoEffJA")
	e.subsystem = 0
	e.plain("Init")
	e.until(1, moast.Done)
	e.send(&moast.ServoEffCmdOpcode{Effector: 1, Opcode: 1})
	e.until(1, moast.Done)
	e.send(&moast.ServoEffCmdOpcode{Effector: 2, Opcode: 1})
	e.until(1, moast.Error)
	if fmt.Sprint(r.operated) != "[1 0]" {
		t.Errorf("effector: got %v", r.operated)
	}
	goal := moast.PoseAt(moast.Cartesian{X: 5}, moast.RPY{})
	if err := s.h.Buffer("servoMobJACfg1").Write(&moast.ServoMobCfgTeleport{CmdHead: moast.CmdHead{Serial: 9},
		Goal: goal}); err != nil {
		t.Fatal(err)
	}
	if s.pass(0.1); r.placed != goal {
		t.Errorf("teleport: got %+v", r.placed)
	}
}

// TestUnknown: a ray without an echo is beyond the range, a lost one NaN, and a scan of lost rays is none. A voltage or
// charge that is not measured is NaN.
func TestUnknown(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct{ rays, want []float64 }{
		{[]float64{1, math.Inf(1), nan}, []float64{1, 11, nan}}, {[]float64{nan, nan}, nil},
	} {
		got := features(&Scan{MaxRange: 10, Ranges: c.rays})
		if !slices.EqualFunc(got, c.want, func(a, b float64) bool { return a == b || a != a && b != b }) {
			t.Errorf("%v: got %v, want %v", c.rays, got, c.want)
		}
	}
	m := &servoMob{status: &moast.ServoMobStatGround{}, seen: &Observation{Volts: nan, Charge: nan}}
	m.status.BatteryVolts, m.status.FuelLevel = 12, 1 // of before
	if m.Update(nil, 1); m.status.BatteryVolts == m.status.BatteryVolts || m.status.FuelLevel == m.status.FuelLevel {
		t.Errorf("got %g V, %g, want NaN", m.status.BatteryVolts, m.status.FuelLevel)
	}
}
