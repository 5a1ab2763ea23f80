package emulator

import (
	"maps"
	"math"
	"time"

	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/odrive"
	"github.com/halyard-robotics/halyard/sim/actuator"
)

// odriveKind is the kind of ODrive axes, on a serial line or on CAN, with firmware 0.5 (v3.6) or 0.6. Decisions:
//
//   - A goal is remembered in every state and acted on in closed loop alone; entering that with an error left is refused.
//   - Any command to an axis feeds its watchdog, and on a serial line those that name it.
//   - Over CAN the endpoints of the watchdog are 200 and 201.
//   - What is kept and moves nothing (gains, trip levels) is remembered for whoever asks. What was written and not saved
//     goes with the power, but for the watchdog and the limit of the current, which are the servo's registers.
type odriveKind struct {
	motorKind
	m           *odrive.Model
	dialect     odrive.Dialect
	can         bool
	idle, saved map[string]float64 // by the tools' names, in their units
}

// The endpoints of an emulated axis.
const (
	WatchdogEndpoint = 200
	EnableEndpoint   = 201
)

// heartbeat is how often an axis reports that it is there (axis0.config.can.heartbeat_msg_rate_ms).
const heartbeat = 100 * time.Millisecond

// NewODrive returns an axis of model m on act: id 0 or 1 of a controller on a serial line.
func NewODrive(m *odrive.Model, id int, act *actuator.Servo, truth GroundTruth) *Servo {
	return newODrive(m, false, 1, id, act, truth)
}

// NewODriveCAN returns an axis of model m on act, the node id of a CAN bus.
func NewODriveCAN(m *odrive.Model, id int, act *actuator.Servo, truth GroundTruth) *Servo {
	return newODrive(m, true, odrive.LastNode, id, act, truth)
}

func newODrive(m *odrive.Model, onCAN bool, lastID int64, id int, act *actuator.Servo, truth GroundTruth) *Servo {
	u := m.Units()
	k := &odriveKind{motorKind: motorKind{name: m.Name, amps: m.Amps, low: u.MinTicks, high: u.MaxTicks}, m: m, dialect: odrive.V06, can: onCAN, saved: map[string]float64{}}
	if m.Axes > 1 {
		k.dialect = odrive.V05
	}
	for _, r := range odrive.Parameters() {
		if path, _ := odrive.Path(&r, k.dialect, 0); path != "" && (r.Access == servo.EEPROM || r.Name == "can_baud_rate" || r.Name == "supply_current") {
			k.saved[r.Name] = r.SI(r.Default)
		}
	}
	return newMotor(k, &k.motorKind, lastID, 500, id, act, truth)
}

func (k *odriveKind) protocol(b *Bus) protocol {
	if !k.can {
		b.duplex = true
		return &odriveProtocol{bus: b, lines: odrive.Lines{Bare: true}}
	}
	b.net = newNet(b)
	return silent{}
}

// start is the kind's; the control mode is the position's, as configured.
func (k *odriveKind) start(s *Servo) {
	k.motorKind.start(s)
	s.set(rControl, controlPosition)
	k.idle = maps.Clone(k.saved)
}

// keep saves what was written. 0.6 starts again then; neither does it while the motor holds.
func (k *odriveKind) keep(s *Servo, now time.Duration) {
	if s.get(rTorqueEnable) == 1 {
		return
	}
	if k.saved = maps.Clone(k.idle); k.dialect == odrive.V06 {
		s.powerOn(now)
	}
}

// state is what the axis does.
func (k *odriveKind) state(s *Servo) odrive.State {
	if s.get(rTorqueEnable) == 1 {
		return odrive.ClosedLoop
	}
	return odrive.Idle
}

// errors are what the axis complains of, in its dialect.
func (k *odriveKind) errors(s *Servo) (e odrive.Errors) {
	for _, x := range [...]struct {
		on       bool
		v05, v06 odrive.Errors
	}{
		{s.motor.expired, 0x800, 1 << 24}, {s.motor.stopped, 0x4000, 1 << 25},
		{s.alarm&actuator.AlarmVoltage != 0, 0x2, 0x200}, {s.alarm&actuator.AlarmHeat != 0, 0x40000, 0x2000},
		{s.alarm&(actuator.AlarmOverload|actuator.AlarmShock) != 0, 0x40, 0x1000},
	} {
		switch {
		case !x.on:
		case k.dialect == odrive.V05:
			e |= x.v05
		default:
			e |= x.v06
		}
	}
	return e
}

// request asks for a state.
func (k *odriveKind) request(s *Servo, state odrive.State) {
	switch state {
	case odrive.Idle:
		s.set(rTorqueEnable, 0)
	case odrive.ClosedLoop:
		if k.errors(s) == 0 {
			s.set(rTorqueEnable, 1)
		}
	}
	s.drive()
}

// clear forgets the errors whose cause is over.
func (k *odriveKind) clear(s *Servo) {
	s.motor.expired, s.motor.stopped = false, false
	s.forgive()
}

// goal remembers a goal in the wire's unit, turns, turns/s or N·m.
func (k *odriveKind) goal(s *Servo, c odrive.Control, v float64) {
	switch c {
	case odrive.PositionControl:
		s.set(rGoalPosition, int64(math.Round(v*motorTicks)))
	case odrive.VelocityControl:
		s.setSI(rGoalVelocity, v*2*math.Pi)
	case odrive.TorqueControl:
		s.setSI(rGoalCurrent, v/k.m.Kt)
	}
	s.drive()
}

func (k *odriveKind) control(s *Servo, c odrive.Control) {
	s.set(rControl, [...]int64{controlNone, controlTorque, controlVelocity, controlPosition}[c&3])
}

// execute does what a CAN frame says.
func (k *odriveKind) execute(n *net, s *Servo, f *servo.CANFrame, now time.Duration) {
	node, c, ok := odrive.Split(f)
	if !ok || int64(node) != s.get(rID) {
		return
	}
	s.heard = now
	if f.Remote {
		k.answer(n, s, c, now)
		return
	}
	switch c {
	case odrive.Estop:
		s.motor.stopped = true
		s.letGo()
	case odrive.SetState:
		k.request(s, odrive.State(f.Word(0)))
	case odrive.SetControl:
		k.control(s, odrive.Control(f.Word(0)))
		s.drive()
	case odrive.InputPos:
		k.goal(s, odrive.PositionControl, f.Float(0))
	case odrive.InputVel:
		k.goal(s, odrive.VelocityControl, f.Float(0))
	case odrive.InputTorque:
		k.goal(s, odrive.TorqueControl, f.Float(0))
	case odrive.SetLimits:
		s.setSI(rCurrentLimit, f.Float(4))
		s.drive()
	case odrive.ClearErrors:
		k.clear(s)
	case odrive.Reboot:
		s.powerOn(now)
	case odrive.RxSDO:
		k.sdo(n, s, f, now)
	}
}

// sdo reads or writes an endpoint; 0.5 has none.
func (k *odriveKind) sdo(n *net, s *Servo, f *servo.CANFrame, now time.Duration) {
	q, ok := odrive.ParseSDO(f)
	if !ok || k.dialect == odrive.V05 {
		return
	}
	v := odrive.SDO{Endpoint: q.Endpoint}
	switch {
	case q.Endpoint == WatchdogEndpoint && q.Write:
		s.setSI(rTimeout, float64(math.Float32frombits(q.Value)))
		k.arm(s, s.get(rWatchdog) > 0)
	case q.Endpoint == WatchdogEndpoint:
		v.Value = math.Float32bits(float32(s.si(rTimeout)))
	case q.Endpoint == EnableEndpoint && q.Write:
		k.arm(s, q.Value&1 == 1)
	case q.Endpoint == EnableEndpoint:
		v.Value = uint32(min(s.get(rWatchdog), 1))
	default:
		return
	}
	if !q.Write {
		n.send(s, v.Frame(byte(s.get(rID)), odrive.TxSDO), now)
	}
}

// arm sets the watchdog going, or stops it.
func (k *odriveKind) arm(s *Servo, on bool) {
	if s.set(rWatchdog, 0); on {
		s.set(rWatchdog, s.get(rTimeout))
	}
}

// answer says what a remote frame asks for.
func (k *odriveKind) answer(n *net, s *Servo, c odrive.Command, now time.Duration) {
	node, old := byte(s.get(rID)), k.dialect == odrive.V05
	s.measure()
	var f servo.CANFrame
	switch {
	case c == odrive.Estimates:
		f = odrive.Floats(node, c, float64(s.get(rPresentPosition))/motorTicks, s.si(rPresentVelocity)/(2*math.Pi))
	case c == odrive.GetIq:
		f = odrive.Floats(node, c, s.si(rPresentCurrent), s.si(rPresentCurrent))
	case c == odrive.GetBus:
		f = odrive.Floats(node, c, s.si(rPresentVoltage), 0)
	case c == odrive.GetErrors && !old:
		f = odrive.Words(node, c, uint32(k.errors(s)), uint32(k.errors(s)))
	case c == odrive.GetTemperature && !old:
		f = odrive.Floats(node, c, s.si(rPresentTemperature), s.si(rPresentTemperature))
	case c == odrive.GetTorques && !old:
		f = odrive.Floats(node, c, 0, s.si(rPresentCurrent)*k.m.Kt)
	case c == odrive.GetVersion && !old:
		f = odrive.Frame(node, c)
		f.Len, f.Data = 8, [8]byte{2, 5, 2, 0, 0, 6, 10, 0}
	default:
		return
	}
	n.send(s, f, now)
}

// beat reports that the axis is there.
func (k *odriveKind) beat(n *net, s *Servo, now time.Duration) time.Duration {
	n.send(s, odrive.HeartbeatMessage{Errors: k.errors(s), State: k.state(s)}.Frame(byte(s.get(rID))), now)
	return now + heartbeat
}
