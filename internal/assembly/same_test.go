package assembly_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/rigtest"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/sim/actuator"
)

const sameRobot = `
name: one
supply: {volts: %g, ohms: 0.02}
joints:
  - {name: joint, servo: %s, modes: [%s], limits_deg: [-60, 60], load: {mass_kg: %g, length_m: 0.1, inertia_kgm2: %g}}
`

const sameRig = `
name: one
clock: {period: %v%s}
buses:
  line: {type: %s, baud: %d, port: /dev/null%s}
agents:
  - name: one
    model: nodder-robot.yaml
    body: %s
    gains: %v
    hardware: {joints: {joint: {bus: line, id: 1, model: %s, registers: {%s}}}}
`

// one is a rig of one servo with an arm on its horn.
type one struct {
	*rigtest.Stepped
	joint *hal.Actuator
	servo *actuator.Servo
	seen  []float64
}

type oneOf struct {
	body, kind, registers string
	clock, bus            string // more keys
	gains                 bool
	model                 servo.Model
	period                time.Duration
}

func (c oneOf) step(t *testing.T) *one {
	t.Helper()
	name := c.model.Units().Name
	spec, _ := actuator.Lookup(name)
	modes := ""
	for m, has := range c.model.Units().Modes {
		if has && spec.Modes[m] {
			modes += hal.Mode(m).String() + ", "
		}
	}
	baud := 1_000_000
	if _, ok := c.model.BaudCode(baud); !ok && len(catalog.BuiltinBuses().Of(c.kind).Bauds) > 0 {
		baud = catalog.BuiltinBuses().Of(c.kind).Bauds[0]
	}
	if c.period == 0 {
		c.period = 10 * time.Millisecond
	}
	mass := 0.3 * spec.StallTorque / 0.981
	path := rigtest.RigOf(t, fmt.Sprintf(sameRig, c.period, c.clock, c.kind, baud, c.bus, c.body, c.gains, name,
		c.registers),
		fmt.Sprintf(sameRobot, spec.NominalVolts, name, modes[:len(modes)-2], mass, mass*0.001))
	s := rigtest.Step(t, rigtest.PlanOf(t, path, configs.Options{}))
	return &one{Stepped: s, joint: &s.Agent.Layout().Actuators[0], servo: s.Sys.Scene.Body("one").Joint(0).Servo}
}

func (o *one) measured(at int) float64 {
	o.seen = o.Agent.Measured(o.seen)
	return o.seen[at]
}

// everyServo calls f for each model of each kind of line that has an actuator model.
func everyServo(t *testing.T, f func(t *testing.T, c oneOf)) {
	for _, kind := range catalog.BuiltinBuses().Names() {
		for _, m := range catalog.BuiltinBuses().Of(kind).Driver.Models() {
			if spec, ok := actuator.Lookup(m.Units().Name); ok && spec.Modes[hal.PositionMode] {
				t.Run(kind+"/"+spec.Name, func(t *testing.T) { f(t, oneOf{kind: kind, model: m}) })
			}
		}
	}
}

func alike(t *testing.T, what string, sim, emulated, slack float64) {
	t.Helper()
	if math.IsNaN(sim) != math.IsNaN(emulated) || math.Abs(sim-emulated) > 0.05*math.Abs(emulated)+slack {
		t.Errorf("%s: got %.4g simulated and %.4g emulated, want the same", what, sim, emulated)
	}
}

// TestTorqueIsTheSame: a joint that holds a weight, one that is commanded a torque and one whose torque is bounded are
// measured the same on simulated and emulated servos of every model.
func TestTorqueIsTheSame(t *testing.T) {
	everyServo(t, func(t *testing.T, c oneOf) {
		var held, pushed, current, bounded, stall [2]float64
		for k, body := range []string{"sim", "emulated"} {
			c.body = body
			o := c.step(t)
			stall[k] = o.joint.Limits.MaxTorque
			o.Inputs[o.joint.Goal[hal.PositionMode]] = 0.7
			o.Run(1500 * time.Millisecond)
			held[k] = o.measured(o.joint.Torque)
			o.Inputs[o.joint.TorqueLimit] = 0.15 * stall[k]
			o.Run(500 * time.Millisecond)
			bounded[k] = o.measured(o.joint.Torque)
			if m := o.joint.Goal[hal.TorqueMode]; m != hal.None {
				o.Inputs[o.joint.TorqueLimit] = stall[k]
				o.Inputs[o.joint.Goal[hal.PositionMode]], o.Inputs[m] = math.NaN(), 0.3*stall[k]
				o.Sys.Scene.Body("one").Hand(0, o.servo.Position, 0) // it stands at any torque
				o.Run(500 * time.Millisecond)
				pushed[k], current[k] = o.measured(o.joint.Torque), o.servo.Current*o.servo.Spec.Constant()
				if o.joint.Limits.MaxVelocity < 10 { // else the guard slows it down before its soft limits
					alike(t, body+": commanded torque", pushed[k], 0.3*stall[k], 0)
				}
			}
		}
		slack := 0.01 * stall[0] // the resolution of loads and currents
		if c.kind == "kondo" {
			slack = 0.03 * stall[0]
		}
		alike(t, "holding", held[0], held[1], slack)
		if c.kind != "kondo" && c.kind != "vesc" && c.kind != "odrive-can" { // these take no bound of the torque
			alike(t, "bounded", bounded[0], bounded[1], slack)
		}
		alike(t, "commanded", pushed[0], pushed[1], slack)
		alike(t, "current", current[0], current[1], slack)
	})
}

// TestGainsAreTheSame: commanded gains, and those of the config's registers, decide on all bodies how far a joint gives
// way under a weight.
func TestGainsAreTheSame(t *testing.T) {
	everyServo(t, func(t *testing.T, c oneOf) {
		r := c.model.Setting("position_p_gain")
		spec, _ := actuator.Lookup(c.model.Units().Name)
		if r == nil || c.model.Units().Gains[0] == 0 {
			t.Skip("its position control takes no gain with torque on")
		}
		sag := func(registers string, kp float64) (sag [2]float64) {
			for k, body := range []string{"sim", "emulated"} {
				c.body, c.registers, c.gains = body, registers, kp > 0
				o := c.step(t)
				o.Run(100 * time.Millisecond)
				if kp > 0 {
					if len(o.joint.Gains) != 3 {
						t.Fatalf("%s: got %d gains, want 3", body, len(o.joint.Gains))
					}
					if is := o.joint.Gains[0].PowerUp; math.Abs(
						is/(float64(r.Default)*c.model.Units().Gains[0])-1) > 1e-9 {
						t.Errorf("%s: power-up: got %g N m/rad, want %g", body, is,
							float64(r.Default)*c.model.Units().Gains[0])
					}
					o.Inputs[o.joint.Gains[0].Input] = kp
				}
				o.Inputs[o.joint.Goal[hal.PositionMode]] = 0.1
				o.Run(2 * time.Second) // the gains are there
				o.Inputs[o.joint.Goal[hal.PositionMode]] = 0.7
				o.Run(3 * time.Second)
				sag[k] = 0.7 - o.measured(o.joint.Position)
			}
			alike(t, fmt.Sprintf("sag at %q, %g N m/rad", registers, kp), sag[0], sag[1], 3*2*math.Pi/spec.TicksPerTurn)
			return sag
		}
		soft := max(r.Default/3, 1)
		usual, set := sag("", 0), sag(fmt.Sprintf("position_p_gain: %d", soft), 0)
		commanded := sag("", float64(soft)*c.model.Units().Gains[0])
		if set[0] < 1.5*usual[0] {
			t.Errorf("registers: got a sag of %.4f rad, without them %.4f, want more", set[0], usual[0])
		}
		alike(t, "sag of registers and command", set[0], commanded[0], 3*2*math.Pi/spec.TicksPerTurn)
	})
}

// TestRealTiming: with the timing of real lines a step of the goal is seen one cycle later than with the ideal one, on
// simulated and emulated servos alike.
func TestRealTiming(t *testing.T) {
	c := oneOf{kind: "dynamixel2", model: catalog.BuiltinBuses().Of("dynamixel2").Lookup("xm430-w350")}
	moved := func(body, timing string) (cycle int) {
		c.body, c.clock = body, ", timing: "+timing
		o := c.step(t)
		o.Inputs[o.joint.Goal[hal.PositionMode]] = 0
		o.Run(500 * time.Millisecond)
		from := o.measured(o.joint.Position)
		o.Inputs[o.joint.Goal[hal.PositionMode]] = 0.5
		for cycle = 1; cycle < 50; cycle++ {
			if o.Run(10 * time.Millisecond); math.Abs(o.measured(o.joint.Position)-from) > 0.02 {
				break
			}
		}
		return cycle
	}
	sim, emulated := moved("sim", "ideal"), moved("emulated", "ideal")
	if sim != emulated || moved("sim", "real") != sim+1 || moved("emulated", "real") != sim+1 {
		t.Errorf("got motion seen after %d and %d cycles ideally, %d and %d really; want one cycle more", sim, emulated,
			moved("sim", "real"), moved("emulated", "real"))
	}
}

// TestSlowLineHasItsOwnRate: a line whose exchange takes longer than a period has new readings as rarely as the wire
// allows, each is shown when its exchange ends, and the line's time stays with the world's. The log says it once.
func TestSlowLineHasItsOwnRate(t *testing.T) {
	for _, l := range []struct {
		kind, model, bus string
		period           time.Duration
		every            int
	}{
		{"dynamixel2", "xm430-w350", "", 10 * time.Millisecond, 1},
		{"dynamixel2", "xm430-w350", ", timing: {latency_timer: 16ms}", 10 * time.Millisecond, 2},
		{"dynamixel2", "xm430-w350", ", latency: 16ms", 10 * time.Millisecond, 2},
		{"dynamixel2", "xm430-w350", ", timing: {usb_frame: 8ms}", 2 * time.Millisecond, 4},
	} {
		c := oneOf{kind: l.kind, body: "emulated", model: catalog.BuiltinBuses().Of(l.kind).Lookup(l.model), bus: l.bus,
			period: l.period}
		o := c.step(t)
		at := time.Duration(-1)
		var gaps []int
		for k, last := 0, 0; k < 400; k++ {
			o.Inputs[o.joint.Goal[hal.PositionMode]] = 0.3 * math.Sin(float64(k)*l.period.Seconds())
			o.Run(l.period)
			if s := o.Device("joint"); s.Time != at {
				if k > 200 {
					gaps = append(gaps, k-last)
				}
				at, last = s.Time, k
			}
		}
		most, mean := 0, 0.
		for _, g := range gaps {
			most, mean = max(most, g), mean+float64(g)/float64(len(gaps))
		}
		// The long read of a servo's health takes another buffer of an adapter.
		if len(gaps) == 0 || math.Abs(mean-float64(l.every)) > 0.5 || most > 2*l.every+1 {
			t.Errorf("%q: got readings every %.2f cycles, at most %d, want %d", l.bus, mean, most, l.every)
		}
		if line, rig := o.Sys.Lines[0].Emu.Edge(), 400*l.period; (line - rig).Abs() > 3*l.period {
			t.Errorf("%q: the line is at %v, the rig at %v", l.bus, line, rig)
		}
	}
}

const floater = `
name: floater
supply: {volts: 12}
materials: {rubber: {friction: 0.8}}
bodies:
- {name: trunk, position_m: [0, 0, 0.5], mass_kg: 1, inertia_kgm2: [0.01, 0.01, 0.01],
   shapes: [{sphere: 0.1, material: rubber}]}
- {name: arm, position_m: [0.2, 0, 0.5], mass_kg: 0.1, inertia_kgm2: [0.001, 0.001, 0.001]}
joints:
- {name: nod, servo: xm430-w350, limits_deg: [-60, 60], parent: trunk, child: arm, anchor_m: [0.1, 0, 0.5],
   axis: [0, 1, 0]}
`

const floaterRig = `
name: floater
buses: {line: {type: dynamixel2, port: /dev/null}}
agents:
- name: floater
  model: nodder-robot.yaml
  body: BODY
  start: {hold: HOLD, torque_ramp: 200ms}
  hardware: {joints: {nod: {bus: line, id: 1, model: xm430-w350}}}
`

// TestGantry: a robot that is not commanded hangs where it begins and is let down when all its joints have had torque
// for a while; without start.hold it falls at once.
func TestGantry(t *testing.T) {
	for _, body := range []string{"sim", "emulated"} {
		for _, hold := range []string{"until-armed", "none"} {
			s := rigtest.Step(t, rigtest.PlanOf(t, rigtest.RigOf(t, floaterRig, floater, "BODY", body, "HOLD", hold),
				configs.Options{}))
			height := func(after time.Duration) float64 {
				s.Run(after)
				return s.Sys.Scene.Body("floater").Pose(0).Position[2]
			}
			if z := height(500 * time.Millisecond); (z > 0.49) != (hold != "none") {
				t.Errorf("%s, %s: got its root at %.2f m after half a second", body, hold, z)
			}
			if hold == "none" {
				continue
			}
			s.Inputs[s.Agent.Layout().Actuators[0].Goal[hal.PositionMode]] = 0
			if z := height(150 * time.Millisecond); z < 0.49 {
				t.Errorf("%s: got its root at %.2f m before the ramp of the torque is over", body, z)
			}
			if z := height(time.Second); z > 0.3 {
				t.Errorf("%s: got its root at %.2f m with torque, want it let down", body, z)
			}
		}
	}
}

// TestEEPROM: servos that were set up otherwise than they come, here XL330 that go on at 7.4 V, are so on simulated and
// emulated bodies, without a note.
func TestEEPROM(t *testing.T) {
	for _, body := range []string{"sim", "emulated"} {
		for keys, notes := range map[string]int{"": 1, ", eeprom: {shutdown: 52}": 0} {
			c := oneOf{kind: "dynamixel2", body: body, bus: ", supply: {volts: 7.4, ohms: 0.02}" + keys,
				model: catalog.BuiltinBuses().Of("dynamixel2").Lookup("xl330-m288")}
			o := c.step(t)
			o.Inputs[o.joint.Goal[hal.PositionMode]] = 0.5
			o.Run(2 * time.Second)
			moved := o.measured(o.joint.Position) > 0.2
			if got := len(o.Sys.Plan.Config.Notes); got != notes || notes == 0 && !moved {
				t.Errorf("%s%s: got %d notes (%v), moved %v, want %d", body, keys, got, o.Sys.Plan.Config.Notes, moved,
					notes)
			}
		}
	}
}
