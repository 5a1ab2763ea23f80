package assembly_test

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/internal/rigtest"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/sim/actuator"
)

// feltJoint is one real XM430 on a bench, whose arm is simulated: a pendulum that hangs, of 1 N·m/rad at its middle.
type feltJoint struct {
	r     *rigtest.Stepped
	world *assembly.EmulatedWorld
	step  func()
	act   *actuator.Servo
	work  float64 // J, of the servo on the joint
	last  float64
}

const benchArm = `<robot name="arm"><link name="base"/>
<link name="upper"><inertial><origin xyz="0 0 LENGTH"/><mass value="MASS"/>
<inertia ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="joint" type="revolute"><parent link="base"/><child link="upper"/><origin xyz="0 0 1"/><axis xyz="0 1 0"/>
<limit lower="-1.5" upper="1.5" effort="4" velocity="4"/></joint></robot>`

func benchConfig(t *testing.T, mass, length, body, couple string) string {
	t.Helper()
	dir := t.TempDir()
	text := `
name: bench
clock: {period: 10ms}
buses:
  arm: {type: dynamixel2, port: /dev/none, baud: 1000000}
agents:
  - name: arm
    model: arm.urdf
    body: ` + body + couple + `
    guard: {command_timeout: none, armed: true, arming: client}
    hardware:
      joints:
        joint: {bus: arm, id: 1, model: xm430-w350}
servers: []
`
	for name, text := range map[string]string{"rig.yaml": text,
		"arm.urdf": strings.NewReplacer("MASS", mass, "LENGTH", length).Replace(benchArm)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "rig.yaml")
}

// newFeltJoint has the joint's line in memory, with the delays of a bus.
func newFeltJoint(t *testing.T, gain, most float64) *feltJoint {
	t.Helper()
	w, err := assembly.EmulateWorld(rigtest.PlanOf(t, benchConfig(t, "0.01", "0", "emulated", ""), configs.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	p := rigtest.PlanOf(t, benchConfig(t, "0.5", "-0.2039", "emulated", ""), configs.Options{})
	j := &p.Agents[0].Joints[0]
	u := j.Servo.Units()
	j.Body, p.Agents[0].Config.Body = configs.Real, configs.Real
	j.Calibration = calibration.Nominal("joint", calibration.Servo{Model: u.Name, ID: 1}, calibration.Model{
		TicksPerTurn: u.TicksPerTurn, CentreTicks: u.CentreTicks, MinTicks: u.MinTicks, MaxTicks: u.MaxTicks,
		TorqueConstant: u.TorqueConstant})
	p.Replay = true // its line is the one given here
	p.Tap = func(string, configs.BodyKind, servo.Opener) servo.Opener {
		return func() (servo.Line, error) { return w.Buses[0].Bus.Open() }
	}
	c, err := configs.Parse([]byte("name: c\nagents: [{name: a, model: a-series, couple: {joint: {gain: "+
		num(gain)+", max_nm: "+num(most)+"}}}]\nservers: []\n"), "c.yaml", configs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p.Agents[0].Config.Couple = c.Agents[0].Couple
	r := rigtest.Step(t, p)
	b := &feltJoint{r: r, world: w, act: w.Buses[0].Bus.Servos()[0].Actuator()}
	at := r.Agent.Layout().Actuators[0].Goal[hal.TorqueMode]
	b.step = func() {
		t.Helper()
		r.Inputs[at] = 0
		r.Run(10 * time.Millisecond)
		w.Pass(10 * time.Millisecond)
		w.Buses[0].Bus.Advance(10 * time.Millisecond)
		b.work += b.torque() * (b.act.Position - b.last)
		b.last = b.act.Position
	}
	return b
}

func num(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// torque is what the motor gives the joint, N·m.
func (b *feltJoint) torque() float64 { return b.act.Current * b.act.Spec.Constant() }

// swing lets a hand move the joint to and fro, and returns the torque's slope over the position, N·m/rad.
func (b *feltJoint) swing(amplitude, hertz, seconds float64) (slope float64) {
	var qq, qt float64
	for k := range int(seconds * 100) {
		phase := 2 * math.Pi * hertz * float64(k) / 100
		b.world.Scene.Body("arm").Hand(0, amplitude*math.Sin(phase), amplitude*2*math.Pi*hertz*math.Cos(phase))
		if b.step(); float64(k)*hertz/100 > 1 { // after the first period
			qq, qt = qq+b.act.Position*b.act.Position, qt+b.act.Position*b.torque()
		}
	}
	return qt / qq
}

// TestCoupled: a hand that moves a real servo feels the simulated arm as a spring, within 15 %, and nothing without it.
// A reading that fails takes the torque away at once, and it comes back slowly.
func TestCoupled(t *testing.T) {
	for _, c := range []struct{ gain, want float64 }{{1, -1}, {0.5, -0.5}, {0, 0}} {
		b := newFeltJoint(t, c.gain, 1)
		got := b.swing(0.3, 0.1, 30)
		t.Logf("gain %g: %.3f N·m/rad, work %.4f J", c.gain, got, b.work)
		if math.Abs(got-c.want) > 0.15*math.Abs(c.want)+0.001 {
			t.Errorf("gain %g: got %.3f N·m/rad, want %g within 15 %%", c.gain, got, c.want)
		}
	}
	b := newFeltJoint(t, 1, 1)
	b.world.Scene.Body("arm").Hand(0, 0.3, 0)
	run := func(n int) {
		for range n {
			b.step()
		}
	}
	run(200)
	held := b.torque()
	if err := b.r.Sys.Plant("drop servo 1 p=1"); err != nil {
		t.Fatal(err)
	}
	run(4)
	lost := b.torque()
	if err := b.r.Sys.Tamper("arm", "joint", ""); err != nil {
		t.Fatal(err)
	}
	run(50)
	if math.Abs(held+0.28) > 0.05 || math.Abs(lost) > 0.01 || math.Abs(b.torque()-held) > 0.02 {
		t.Errorf("held, lost, back: got %.3f, %.3f, %.3f N·m; want -0.28, 0, -0.28", held, lost, b.torque())
	}
}

// TestCoupledIsPassive: at any frequency a hand gets no energy out of the spring, which is late by the bus and the
// twin; released it comes to rest.
func TestCoupledIsPassive(t *testing.T) {
	for _, hertz := range []float64{0.25, 1, 3, 6} {
		b := newFeltJoint(t, 1, 1)
		b.swing(0.3/max(1, hertz), hertz, math.Ceil(8/hertz))
		t.Logf("%g Hz: work %.4f J", hertz, b.work)
		if b.work > 0.04 {
			t.Errorf("%g Hz: the spring gave %.4f J, want at most 0.03", hertz, b.work)
		}
		b.world.Scene.Body("arm").Hand(0, 0.3, 0)
		for range 100 {
			b.step()
		}
		b.world.Scene.Body("arm").Hand(0, math.NaN(), 0)
		far := 0.0
		for range 1000 {
			b.step()
			far = max(far, math.Abs(b.act.Position))
		}
		if far > 0.31 || math.Abs(b.act.Velocity) > 0.05 {
			t.Errorf("released: within %.3f rad at %.3f rad/s, want at rest", far, b.act.Velocity)
		}
	}
}
