package odrive

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/odrivewire"
	"github.com/halyard-robotics/halyard/servo"
)

// canTool is the servo.ToolSpec of nodes on a CAN bus.
type canTool struct {
	can      *servo.CANExchange
	settings map[int]map[string]int // of the config: the endpoints of each node's watchdog
	node     byte
	want     odrivewire.Command
	point    uint16 // endpoint of the TxSDO that is waited for
	got      servo.CANFrame
	dialect  odrivewire.Dialect
}

func newCANTool(line servo.Line, cfg servo.ToolConfig) servo.Tool {
	t := &canTool{settings: cfg.Settings, dialect: odrivewire.V06}
	t.can = servo.NewCANExchange(servo.NewExchange(line, frameBits, 8*servo.CANSize, 64*servo.CANSize), t.accept)
	return servo.NewTool(cfg, servo.ToolSpec{Exchange: t.can.Exchange, Identify: t.identify, Read: t.read,
		Write: t.write})
}

// accept stores f if it is the expected reply.
func (t *canTool) accept(f *servo.CANFrame) bool {
	node, command, ok := odrivewire.Split(f)
	if !ok || f.Remote || node != t.node || command != t.want {
		return false
	}
	if s, ok := odrivewire.ParseSDO(f); command == odrivewire.TxSDO && (!ok || s.Endpoint != t.point) {
		return false
	}
	t.got = *f
	return true
}

// ask sends f, if not nil, and waits for command of node. Earlier frames are discarded.
func (t *canTool) ask(node int, command odrivewire.Command, f *servo.CANFrame, delay time.Duration) error {
	t.node, t.want = byte(node), odrivewire.Command(0xFF) // no frame's
	if err := t.can.Drain(); err != nil {
		return err
	}
	if t.want = command; f != nil {
		t.can.Put(f)
	}
	return t.can.Collect(1, delay)
}

func (t *canTool) remote(node int, command odrivewire.Command) error {
	f := odrivewire.Ask(byte(node), command)
	return t.ask(node, command, &f, canDelay)
}

// identify reads the version of a node. Firmware 0.5 does not report it, and runs only on v3.
func (t *canTool) identify(node int) (servo.Found, error) {
	err := t.remote(node, odrivewire.GetVersion)
	if err == nil {
		if t.dialect = odrivewire.V06; t.got.Len != 8 {
			return servo.Found{}, servo.ErrCorrupt
		}
		found, err := driver{can: true}.hardware(float64(t.got.Data[1]), "4 or 5")
		found.Firmware = fmt.Sprintf("%d.%d", t.got.Data[4], t.got.Data[5])
		return found, err
	}
	if !errors.Is(err, servo.ErrNoReply) {
		return servo.Found{}, err
	}
	if err = t.remote(node, odrivewire.Estimates); err != nil {
		return servo.Found{}, err
	}
	t.dialect = odrivewire.V05
	found, err := driver{can: true}.hardware(3, "3")
	found.Firmware = "0.5"
	return found, err
}

// location is where a node sends a register's value.
type location struct {
	command odrivewire.Command // frame of CANSimple
	at      int                // byte in it
	newer   bool               // only with firmware 0.6
}

// locations are those of all registers that a node sends.
var locations = map[string]location{
	"present_position": {odrivewire.Estimates, 0, false}, "present_velocity": {odrivewire.Estimates, 4, false},
	"present_current": {odrivewire.GetIq, 4, false},
	"present_voltage": {odrivewire.GetBus, 0, false}, "supply_current": {odrivewire.GetBus, 4, false},
	"present_temperature": {odrivewire.GetTemperature, 0, true},
	"errors":              {odrivewire.GetErrors, 0, true}, "state": {odrivewire.Heartbeat, 0, false},
	torqueEnable:       {odrivewire.Heartbeat, 0, false},
	"watchdog_timeout": {odrivewire.TxSDO, 0, true}, "watchdog_enable": {odrivewire.TxSDO, 0, true},
}

// CANParameters are the registers of a node for tools: all values with a CANSimple frame, and the watchdog, whose
// endpoints depend on the firmware. The slice belongs to the caller.
func CANParameters() []servo.Register {
	return slices.DeleteFunc(Parameters(), func(r servo.Register) bool { return locations[r.Name].command == 0 })
}

// endpoint is that of a register of the watchdog, 0 where it is not known.
func (t *canTool) endpoint(node int, name string) uint16 {
	if name == "watchdog_enable" {
		name = enableEndpoint
	} else {
		name = watchdogEndpoint
	}
	return uint16(t.settings[node][name])
}

// read reads a register. A node reports its state in heartbeats; read waits for one.
func (t *canTool) read(node int, _ servo.Model, r *servo.Register) (int64, error) {
	from := locations[r.Name]
	command := from.command
	_, factor := Path(r, t.dialect, 0)
	point := uint16(0)
	if command == odrivewire.TxSDO {
		point = t.endpoint(node, r.Name)
	}
	switch {
	case command == 0 || from.newer && t.dialect == odrivewire.V05 || command == odrivewire.TxSDO && point == 0:
		return 0, servo.ErrNoRegister
	case command == odrivewire.Heartbeat:
		if err := t.ask(node, command, nil, heartbeatTimeout); err != nil {
			return 0, err
		}
		beat, ok := odrivewire.ParseBeat(&t.got)
		switch {
		case !ok:
			return 0, servo.ErrCorrupt
		case r.Name == "state":
			return int64(beat.State), nil
		case beat.State == odrivewire.ClosedLoop:
			return 1, nil
		}
		return 0, nil
	case command == odrivewire.TxSDO:
		f := odrivewire.SDO{Endpoint: point}.Frame(byte(node), odrivewire.RxSDO)
		t.point = point
		if err := t.ask(node, odrivewire.TxSDO, &f, canDelay); err != nil {
			return 0, err
		}
		s, _ := odrivewire.ParseSDO(&t.got)
		if r.Encoding == servo.Float {
			return r.Round(float64(math.Float32frombits(s.Value)) * factor), nil
		}
		return int64(s.Value & 1), nil
	}
	if err := t.remote(node, command); err != nil {
		return 0, err
	}
	if r.Encoding != servo.Float {
		return int64(t.got.Word(from.at)), nil
	}
	v := t.got.Float(from.at)
	if !finite(v) {
		return 0, servo.ErrCorrupt
	}
	return r.Round(v * factor), nil
}

// write writes a register of the watchdog where its endpoint is known, or switches torque off, and reads back. It is
// lost with the power.
func (t *canTool) write(node int, m servo.Model, r *servo.Register, v int64) error {
	point := t.endpoint(node, r.Name)
	var f servo.CANFrame
	switch {
	case r.Name == torqueEnable && v == 0:
		f = odrivewire.Words(byte(node), odrivewire.SetState, uint32(odrivewire.Idle))
	case locations[r.Name].command != odrivewire.TxSDO || point == 0 || t.dialect == odrivewire.V05:
		return &hal.Error{Kind: hal.Invalid, ID: node, Op: "write " + r.Name, Err: servo.ErrNoRegister,
			Try: "its serial line (--protocol odrive), or odrivetool; of the watchdog a config's registers: name " +
				"the endpoints"}
	case r.Encoding == servo.Float:
		f = odrivewire.SDO{Write: true, Endpoint: point, Value: odrivewire.FloatWord(r.SI(v))}.Frame(byte(node),
			odrivewire.RxSDO)
	default:
		f = odrivewire.SDO{Write: true, Endpoint: point, Value: uint32(v)}.Frame(byte(node), odrivewire.RxSDO)
	}
	t.can.Put(&f)
	if err := t.can.Write(); err != nil {
		return err
	}
	got, err := t.read(node, m, r)
	if err == nil && got != v { // the first heartbeat may be of the moment before
		got, err = t.read(node, m, r)
	}
	if err != nil {
		return err
	}
	return servo.Unequal(got, v)
}
