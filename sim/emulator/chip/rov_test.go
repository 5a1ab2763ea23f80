package chip_test

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/drivers"
	"github.com/halyard-robotics/halyard/drivers/imu"
	"github.com/halyard-robotics/halyard/drivers/pressure"
	"github.com/halyard-robotics/halyard/drivers/pwm"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/kinematics"
	"github.com/halyard-robotics/halyard/sim/emulator/chip"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

const (
	thrusters = 8
	period    = 10 * time.Millisecond
)

// rovLayout is eight thrusters told by duty, an IMU and a depth sensor.
func rovLayout() *hal.Layout {
	l := &hal.Layout{}
	none := [hal.NumModes]int{hal.None, hal.None, hal.None, hal.None}
	for i := range thrusters {
		a := hal.Actuator{Name: fmt.Sprintf("thruster_%d", i), Kind: hal.Thruster, Goal: none, TorqueLimit: hal.None,
			Position: hal.None,
			Velocity: hal.None, Torque: hal.None, Voltage: hal.None, Temperature: hal.None,
			Limits: hal.Limits{MaxVelocity: 1, MaxTorque: 50}}
		a.Goal[hal.DutyMode] = i
		l.Inputs = append(l.Inputs, hal.Channel{Name: a.Name + "/duty", Quantity: hal.Duty, Min: -1, Max: 1})
		l.Actuators = append(l.Actuators, a)
	}
	for i := range 12 {
		l.Outputs = append(l.Outputs, hal.Channel{Name: fmt.Sprintf("value/%d", i), Min: -1e7, Max: 1e7})
	}
	l.Sensors = []hal.Sensor{{Name: "imu", Kind: "imu", First: 0, Count: 10},
		{Name: "depth", Kind: "pressure", First: 10, Count: 2}}
	return l
}

// rov is the real ROV's driver stack on emulated chips: a PCA9685 or a Maestro, a BNO055 or an MPU-9250, an MS5837. It
// is a hal.World that sinks and turns.
type rov struct {
	bus     *chip.Bus
	line    *wire.Line // of the Maestro and the BNO055's UART; nil without
	water   *chip.MS5837
	motion  func(chip.Motion)
	pulse   func(int) time.Duration
	feeder  *drivers.OutputWriter
	pollers []*drivers.Poller
	body    *drivers.Body
	now     time.Duration
}

func newROV(t *testing.T, board, sensor string) *rov {
	t.Helper()
	r := &rov{water: chip.NewMS5837(pressure.MS5837_30BA())}
	devices := []chip.Device{r.water}
	pca, bno, mpu := chip.NewPCA9685(0x41, 26.1e6), chip.NewBNO055(imu.BNO055Address),
		chip.NewMPU("mpu-9250", imu.MPUAddress)
	devices = append(devices, pca, bno, mpu, mpu.Compass([3]byte{170, 172, 160}))
	r.bus = chip.NewBus("i2c-1", 400_000, 7, devices...)
	edge := r.bus.Edge

	var out drivers.Output
	host, gate := r.bus.Host(), pca.Gate
	clock := hal.Clock(host)
	var err error
	if board == "pca9685" {
		must(t, gate(false)) // OE is pulled up until the program lets pulses through
		out, err = pwm.NewPCA9685(host, pwm.PCA9685Config{Address: 0x41, Hertz: 200, Oscillator: 26.1e6,
			Channels: thrusters, Clock: host})
		r.pulse = func(i int) time.Duration { w, _ := pca.Pulse(i); return w }
	} else {
		m := chip.NewMaestro(12, 12, true)
		r.line = chip.NewSerial("maestro", 115200, 7, m)
		out, err = pwm.NewMaestro(r.line.Open, pwm.MaestroConfig{Name: "maestro", Channels: thrusters, Device: 12,
			CRC: true})
		clock, edge, gate, r.pulse = r.line, r.line.Edge, nil, m.Pulse
	}
	must(t, err)
	r.feeder = drivers.NewOutputWriter(out, drivers.OutputWriterConfig{Name: board, Channels: thrusters, Clock: clock,
		CycleTime: edge, Gate: gate})

	poll := func(s drivers.Sensor, host *chip.Host, values int, every time.Duration) {
		r.pollers = append(r.pollers, drivers.NewPoller(s,
			drivers.PollerConfig{Values: values, Period: every, Clock: host, CycleTime: r.bus.Edge}))
	}
	host = r.bus.Host()
	if sensor == "bno055" {
		poll(imu.NewBNO055(host, imu.BNO055Config{Compass: true, Clock: host}), host, 10, 20*time.Millisecond)
		r.motion = func(m chip.Motion) { bno.Motion = m }
	} else {
		raw, err := imu.NewMPU(host, imu.MPUConfig{Model: "mpu-9250", Clock: host})
		must(t, err)
		fusion := drivers.NewAHRS(raw, calibration.NominalInertial("imu", "mpu-9250"), host,
			kinematics.AttitudeConfig{})
		poll(fusion, host, 10, 10*time.Millisecond)
		r.motion = func(m chip.Motion) { mpu.Motion = m }
	}
	host = r.bus.Host()
	depth, err := pressure.NewMS5837(host, pressure.MS5837Config{Air: pressure.SeaLevel, Clock: host})
	must(t, err)
	poll(depth, host, 2, 50*time.Millisecond)

	must(t, r.feeder.Open())
	joints := make([]drivers.Joint, thrusters)
	for i := range joints {
		joints[i] = drivers.Joint{Writer: r.feeder, Channel: i, Bus: board}
	}
	r.body, err = drivers.Build(rovLayout(), joints, true)
	must(t, err)
	for i, name := range []string{"imu", "depth"} {
		must(t, r.pollers[i].Open())
		must(t, r.body.AttachSensor(name, r.pollers[i], 0))
	}
	return r
}

// state is what the vehicle truly does at now: it sinks by half a metre a second to the ground in 100 m, and turns
// about z.
func (r *rov) state() (pascals float64, m chip.Motion) {
	s := r.now.Seconds()
	m = chip.AtRest()
	const rate = 0.2
	sin, cos := math.Sincos(rate * s / 2)
	m.Attitude, m.Rates = [4]float64{cos, 0, 0, sin}, [3]float64{0, 0, rate}
	sin, cos = math.Sincos(rate * s)
	m.Field = [3]float64{20e-6 * cos, -20e-6 * sin, -45e-6}
	return pressure.SeaLevel + 997*9.80665*math.Min(100, 0.5*s), m
}

// Advance implements hal.World: physics first, then the buses' clocks.
func (r *rov) Advance(dt time.Duration) error {
	r.now += dt
	pascals, m := r.state()
	r.water.Water.Pascals = pascals
	r.motion(m)
	err := r.bus.Advance(dt)
	if r.line != nil {
		err = errors.Join(err, r.line.Advance(dt))
	}
	return err
}

func (r *rov) buses() []hal.Bus {
	return []hal.Bus{r.feeder, r.pollers[0], r.pollers[1]}
}

// rigged puts the ROV into a rig in lock-step.
func rigged(t *testing.T, r *rov) (*hal.Rig, *hal.Agent, func(inputs []float64)) {
	t.Helper()
	rig, err := hal.New(hal.Config{Mode: hal.Lockstep, Period: period})
	must(t, err)
	for _, b := range r.buses() {
		must(t, rig.AddBus(b))
	}
	agent, err := rig.Add(hal.AgentConfig{Name: "rov", Body: r.body, World: r, BodyKind: hal.Emulated})
	must(t, err)
	party := rig.NewSession("test", nil)
	lease, err := party.Acquire(agent)
	must(t, err)
	return rig, agent, func(inputs []float64) { must(t, party.Step(lease, inputs)) }
}

// The whole stack, byte for byte, in a rig: what the world does arrives as values with their age, what is commanded as
// pulses, and the emergency stop ends them; twice the same run is twice the same bits, and a cycle allocates nothing.
func TestROV(t *testing.T) {
	for _, board := range []string{"pca9685", "maestro"} {
		for _, sensor := range []string{"bno055", "mpu-9250"} {
			t.Run(board+" "+sensor, func(t *testing.T) {
				first, second := drive(t, board, sensor), drive(t, board, sensor)
				for i := range first {
					if math.Float64bits(first[i]) != math.Float64bits(second[i]) {
						t.Fatalf("value %d: got %v and %v in two runs", i, first[i], second[i])
					}
				}
			})
		}
	}
}

// drive lets the ROV run for ten seconds and returns all that it measured.
func drive(t *testing.T, board, sensor string) (all []float64) {
	t.Helper()
	r := newROV(t, board, sensor)
	rig, agent, cycle := rigged(t, r)
	inputs := make([]float64, thrusters)
	for i := range inputs {
		inputs[i] = 0.25 * float64(i-4) / 4
	}
	var measured []float64
	var status []hal.Status
	for k := range 1000 {
		cycle(inputs)
		measured, status = agent.Measured(measured), agent.Status(status)
		all = append(all, measured...)
		for i, s := range status {
			if s.Err != nil && k > 5 {
				t.Fatalf("cycle %d: device %d: %v", k, i, s.Err)
			}
		}
		if w := r.pulse(0); k == 100 && (w < 1495*time.Microsecond || w > 1505*time.Microsecond) {
			t.Errorf("arming: got %v, want neutral", w)
		}
	}
	// Ten seconds down at half a metre a second, read at most 70 ms ago.
	near(t, "depth, m", measured[10]/(997*9.80665), 5, 0.5*0.08)
	_, m := r.state()
	near(t, "heading w", measured[0], m.Attitude[0], 0.01)
	near(t, "heading z", measured[3], m.Attitude[3], 0.01)
	near(t, "rate", measured[6], 0.2, 0.01)
	near(t, "g", measured[9], 9.80665, 0.01)
	for i := range thrusters {
		want := 1500.0
		switch duty := inputs[i]; {
		case duty > 0:
			want = 1528 + duty*372
		case duty < 0:
			want = 1472 + duty*372
		}
		near(t, "pulse, µs", r.pulse(i).Seconds()*1e6, want, 1.3)
	}
	if n := r.bus.Overruns(); n != 0 {
		t.Errorf("bus: %d periods overrun at 400 kHz", n)
	}
	// The body's own cycle, without the rig's test double of a client.
	f := hal.NewFrame(r.body.Layout())
	if n := testing.AllocsPerRun(200, func() {
		err := r.body.Write(f)
		for _, b := range r.buses() {
			err = errors.Join(err, b.Send())
		}
		_ = r.Advance(period)
		for _, b := range r.buses() {
			err = errors.Join(err, b.Receive())
		}
		f.Time += period
		if errors.Join(err, r.body.Read(f)) != nil {
			panic("a fault")
		}
	}); n != 0 {
		t.Errorf("a cycle: got %g allocations, want 0", n)
	}
	for _, stop := range rig.EmergencyStop("test") {
		if stop.Err != nil {
			t.Errorf("stop: %s: %v", stop.Joint, stop.Err)
		}
	}
	for i := range thrusters {
		if w := r.pulse(i); w != 0 {
			t.Errorf("stopped: thruster %d: got %v", i, w)
		}
	}
	for range 100 {
		cycle(inputs)
	}
	if w := r.pulse(0); w != 0 {
		t.Errorf("a second after the stop: got %v", w)
	}
	return all
}
