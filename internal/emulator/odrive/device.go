// Package odrive emulates ODrive motor controllers on a serial line and on CAN.
package odrive

import (
	"maps"
	"math"
	"time"

	"github.com/halyard-robotics/halyard/internal/emulator/motor"
	"github.com/halyard-robotics/halyard/internal/emulator/reg"
	"github.com/halyard-robotics/halyard/internal/wire/odrivewire"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/odrive"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/emulator"
)

// device is an axis, on a serial line or on CAN, with firmware 0.5 (v3.6) or 0.6. Decisions:
//
//   - A goal is stored in every state and applied only in closed loop; entering closed loop with an active error is refused.
//   - Any command to an axis feeds its watchdog; on a serial line only those that name the axis.
//   - Over CAN the endpoints of the watchdog are 200 and 201, that of the current limit 202.
//   - Parameters without effect on the motion (gains, trip levels) can be written and read back. Unsaved values are lost at
//     power-off, except the watchdog and the current limit, which are registers of the servo.
type device struct {
	motor.Controller
	m           *odrive.Model
	dialect     odrivewire.Dialect
	can         bool
	idle, saved map[string]float64 // by the tools' names, in their units
}

// The endpoints of an emulated axis.
const (
	WatchdogEndpoint = 200
	EnableEndpoint   = 201
	LimitEndpoint    = 202
)

// heartbeat is the period of an axis's heartbeat message (axis0.config.can.heartbeat_msg_rate_ms).
const heartbeat = 100 * time.Millisecond

// New returns an axis of model m on act: id 0 or 1 of a controller on a serial line. nil where m is another vendor's.
func New(m servo.Model, id int, act *actuator.Servo, truth emulator.GroundTruth) *emulator.Servo {
	return newAxis(m, false, 1, id, act, truth)
}

// NewCAN returns an axis of model m on act, the node id of a CAN bus.
func NewCAN(m servo.Model, id int, act *actuator.Servo, truth emulator.GroundTruth) *emulator.Servo {
	return newAxis(m, true, odrivewire.LastNode, id, act, truth)
}

func newAxis(model servo.Model, onCAN bool, lastID int64, id int, act *actuator.Servo,
	truth emulator.GroundTruth) *emulator.Servo {
	m := odrive.ModelIn(model)
	if m == nil {
		return nil
	}
	s := &device{Controller: motor.Controller{Servo: new(emulator.Servo), Amps: m.Amps}, m: m, dialect: odrivewire.V06,
		can: onCAN, saved: map[string]float64{}}
	if m.Axes > 1 {
		s.dialect = odrivewire.V05
	}
	for _, r := range odrive.Parameters() {
		if path, _ := odrive.Path(&r, s.dialect, 0); path != "" &&
			(r.Access == servo.EEPROM || r.Name == "can_baud_rate" || r.Name == "supply_current") {
			s.saved[r.Name] = r.SI(r.Default)
		}
	}
	return s.Init(s, m.Units(), lastID, 500, id, act, truth)
}

func (s *device) Protocol(b *emulator.Bus) emulator.Protocol {
	if !s.can {
		b.SetDuplex()
		return &protocol{bus: b, servos: emulator.Kinds[*device](b), out: make([]byte, 0, 2048),
			lines: odrivewire.Lines{Bare: true}}
	}
	return b.UseCAN()
}

// Started selects position control, as configured.
func (s *device) Started() {
	s.Controller.Started()
	s.Set(reg.Control, motor.ControlPosition)
	s.idle = maps.Clone(s.saved)
}

// keep saves the written values. Firmware 0.6 restarts then. With torque on neither version saves.
func (s *device) keep(now time.Duration) {
	if s.Get(reg.TorqueEnable) == 1 {
		return
	}
	if s.saved = maps.Clone(s.idle); s.dialect == odrivewire.V06 {
		s.PowerOn(now)
	}
}

// state is the state of the axis.
func (s *device) state() odrivewire.State {
	if s.Get(reg.TorqueEnable) == 1 {
		return odrivewire.ClosedLoop
	}
	return odrivewire.Idle
}

// errors are the errors of the axis, in its dialect.
func (s *device) errors() (e odrivewire.Errors) {
	for _, x := range [...]struct {
		on       bool
		v05, v06 odrivewire.Errors
	}{
		{s.Expired, 0x800, 1 << 24}, {s.Stopped, 0x4000, 1 << 25},
		{s.Alarm&actuator.AlarmVoltage != 0, 0x2, 0x200}, {s.Alarm&actuator.AlarmHeat != 0, 0, 0x2000},
		{s.Alarm&(actuator.AlarmOverload|actuator.AlarmShock) != 0, 0, 0x1000},
	} {
		switch {
		case !x.on:
		case s.dialect == odrivewire.V05:
			e |= x.v05
		default:
			e |= x.v06
		}
	}
	return e
}

// motorErrors are those of the motor, which firmware 0.5.2 to 0.5.4 reports there and not in the axis' word.
func (s *device) motorErrors() (bits uint32) {
	if s.dialect == odrivewire.V06 {
		return 0
	}
	if s.Alarm&actuator.AlarmHeat != 0 {
		bits |= 0x40000
	}
	if s.Alarm&(actuator.AlarmOverload|actuator.AlarmShock) != 0 {
		bits |= 0x1000
	}
	return bits
}

// request asks for a state.
func (s *device) request(state odrivewire.State) {
	switch state {
	case odrivewire.Idle:
		s.Set(reg.TorqueEnable, 0)
	case odrivewire.ClosedLoop:
		if s.errors() == 0 && s.motorErrors() == 0 {
			s.Set(reg.TorqueEnable, 1)
		}
	}
	s.Drive()
}

// clear clears the errors whose cause is over.
func (s *device) clear() {
	s.Expired, s.Stopped = false, false
	s.ClearAlarms()
}

// goal remembers a goal in the wire's unit, turns, turns/s or N·m.
func (s *device) goal(c odrivewire.Control, v float64) {
	switch c {
	case odrivewire.PositionControl:
		s.Set(reg.GoalPosition, int64(math.Round(v*motor.Ticks)))
	case odrivewire.VelocityControl:
		s.SetSI(reg.GoalVelocity, v*2*math.Pi)
	case odrivewire.TorqueControl:
		s.SetSI(reg.GoalCurrent, v/s.m.Kt)
	}
	s.Drive()
}

func (s *device) control(c odrivewire.Control) {
	s.Set(reg.Control, [...]int64{motor.ControlNone, motor.ControlTorque, motor.ControlVelocity,
		motor.ControlPosition}[c&3])
}

// Execute executes the command of a CAN frame.
func (s *device) Execute(n *emulator.Net, f *servo.CANFrame, now time.Duration) {
	node, c, ok := odrivewire.Split(f)
	if !ok || int64(node) != s.Get(reg.ID) {
		return
	}
	s.Received = now
	if f.Remote {
		s.reply(n, c, now)
		return
	}
	switch c {
	case odrivewire.Estop:
		s.Stopped = true
		s.Release()
	case odrivewire.SetState:
		s.request(odrivewire.State(f.Word(0)))
	case odrivewire.SetControl:
		s.control(odrivewire.Control(f.Word(0)))
		s.Drive()
	case odrivewire.InputPos:
		s.goal(odrivewire.PositionControl, f.Float(0))
	case odrivewire.InputVel:
		s.goal(odrivewire.VelocityControl, f.Float(0))
	case odrivewire.InputTorque:
		s.goal(odrivewire.TorqueControl, f.Float(0))
	case odrivewire.SetLimits:
		s.SetSI(reg.CurrentLimit, f.Float(4))
		s.Drive()
	case odrivewire.ClearErrors:
		s.clear()
	case odrivewire.Reboot:
		s.PowerOn(now)
	case odrivewire.RxSDO:
		s.sdo(n, f, now)
	}
}

// sdo reads or writes an endpoint; firmware 0.5 has none.
func (s *device) sdo(n *emulator.Net, f *servo.CANFrame, now time.Duration) {
	q, ok := odrivewire.ParseSDO(f)
	if !ok || s.dialect == odrivewire.V05 {
		return
	}
	v := odrivewire.SDO{Endpoint: q.Endpoint}
	switch {
	case q.Endpoint == WatchdogEndpoint && q.Write:
		s.SetSI(reg.Timeout, float64(math.Float32frombits(q.Value)))
		s.arm(s.Get(reg.Watchdog) > 0)
	case q.Endpoint == WatchdogEndpoint:
		v.Value = math.Float32bits(float32(s.SI(reg.Timeout)))
	case q.Endpoint == LimitEndpoint && q.Write:
		s.SetSI(reg.CurrentLimit, float64(math.Float32frombits(q.Value)))
		s.Drive()
	case q.Endpoint == LimitEndpoint:
		v.Value = math.Float32bits(float32(s.currentLimit()))
	case q.Endpoint == EnableEndpoint && q.Write:
		s.arm(q.Value&1 == 1)
	case q.Endpoint == EnableEndpoint:
		v.Value = uint32(min(s.Get(reg.Watchdog), 1))
	default:
		return
	}
	if !q.Write {
		n.Send(s.Servo, v.Frame(byte(s.Get(reg.ID)), odrivewire.TxSDO), now)
	}
}

// currentLimit is the axis' current limit, A.
func (s *device) currentLimit() float64 {
	if s.Get(reg.CurrentLimit) == math.MaxInt32 { // factory default
		return s.Amps
	}
	return s.SI(reg.CurrentLimit)
}

// arm sets the watchdog going, or stops it.
func (s *device) arm(on bool) {
	if s.Set(reg.Watchdog, 0); on {
		s.Set(reg.Watchdog, s.Get(reg.Timeout))
	}
}

// reply sends the values requested by a remote frame.
func (s *device) reply(n *emulator.Net, c odrivewire.Command, now time.Duration) {
	node, old := byte(s.Get(reg.ID)), s.dialect == odrivewire.V05
	s.Measure()
	var f servo.CANFrame
	switch {
	case c == odrivewire.Estimates:
		f = odrivewire.Floats(node, c, float64(s.Get(reg.PresentPosition))/motor.Ticks,
			s.SI(reg.PresentVelocity)/(2*math.Pi))
	case c == odrivewire.GetIq:
		f = odrivewire.Floats(node, c, s.SI(reg.PresentCurrent), s.SI(reg.PresentCurrent))
	case c == odrivewire.GetBus:
		f = odrivewire.Floats(node, c, s.SI(reg.PresentVoltage), 0)
	case c == odrivewire.GetErrors && old:
		f = odrivewire.Words(node, c, s.motorErrors(), 0)
	case c == odrivewire.RxSDO && old:
		f = odrivewire.Words(node, c, 0) // of the encoder
	case c == odrivewire.GetErrors:
		f = odrivewire.Words(node, c, uint32(s.errors()), uint32(s.errors()))
	case c == odrivewire.GetTemperature && !old:
		f = odrivewire.Floats(node, c, s.SI(reg.PresentTemperature), s.SI(reg.PresentTemperature))
	case c == odrivewire.GetTorques && !old:
		f = odrivewire.Floats(node, c, 0, s.SI(reg.PresentCurrent)*s.m.Kt)
	case c == odrivewire.GetVersion && !old:
		f = odrivewire.Frame(node, c)
		f.Len, f.Data = 8, [8]byte{2, 5, 2, 0, 0, 6, 10, 0}
	default:
		return
	}
	n.Send(s.Servo, f, now)
}

// TransmitUnasked sends the heartbeat message.
func (s *device) TransmitUnasked(n *emulator.Net, now time.Duration) time.Duration {
	n.Send(s.Servo, odrivewire.HeartbeatMessage{Errors: s.errors(), State: s.state()}.Frame(byte(s.Get(reg.ID))), now)
	return now + heartbeat
}

var _ emulator.CANKind = (*device)(nil)
