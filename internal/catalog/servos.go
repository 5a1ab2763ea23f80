package catalog

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers/can"
	"github.com/halyard-robotics/halyard/drivers/serial"
	"github.com/halyard-robotics/halyard/hal"
	emucybergear "github.com/halyard-robotics/halyard/internal/emulator/cybergear"
	emudynamixel "github.com/halyard-robotics/halyard/internal/emulator/dynamixel"
	emufeetech "github.com/halyard-robotics/halyard/internal/emulator/feetech"
	emuhiwonder "github.com/halyard-robotics/halyard/internal/emulator/hiwonder"
	emukondo "github.com/halyard-robotics/halyard/internal/emulator/kondo"
	emuodrive "github.com/halyard-robotics/halyard/internal/emulator/odrive"
	emuvesc "github.com/halyard-robotics/halyard/internal/emulator/vesc"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/cybergear"
	"github.com/halyard-robotics/halyard/servo/dynamixel"
	"github.com/halyard-robotics/halyard/servo/feetech"
	"github.com/halyard-robotics/halyard/servo/hiwonder"
	"github.com/halyard-robotics/halyard/servo/kondo"
	"github.com/halyard-robotics/halyard/servo/odrive"
	"github.com/halyard-robotics/halyard/servo/vesc"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/emulator"
)

// BuiltinBuses are the built-in bus types of servos and motor controllers, in the order in which a line is scanned for
// them: first those that execute the packets of others, then those that reply to a broadcast.
func BuiltinBuses() Buses {
	return Buses{
		Servos(kondo.Driver(), emukondo.New),
		Servos(dynamixel.Driver2(), emudynamixel.New),
		Servos(dynamixel.Driver1(), emudynamixel.New),
		Servos(feetech.Driver(), emufeetech.New),
		Servos(hiwonder.Driver(), emuhiwonder.New),
		Servos(vesc.Driver(), emuvesc.New),
		Servos(odrive.Driver(), emuodrive.New),
		Servos(odrive.CANDriver(), emuodrive.NewCAN),
		Servos(cybergear.Driver(), emucybergear.New),
	}
}

// Emulate returns an emulated device of a model on act, nil where the model is another vendor's.
type Emulate func(m servo.Model, id int, act *actuator.Servo, t emulator.GroundTruth) *emulator.Servo

// BusType is the row of one bus type: its driver with the driver's traits, and its emulation.
type BusType struct {
	servo.Traits
	Driver  servo.Driver
	Emulate Emulate
	Motors  []*actuator.Spec // simulation specs of models that are not in sim/actuator
}

// Servos returns the row of a driver and the constructor of its emulated devices.
func Servos(d servo.Driver, e Emulate) BusType {
	return BusType{Traits: *d.Traits(), Driver: d, Emulate: e}
}

// Buses are bus types in the order in which a line is scanned for them.
type Buses []BusType

// Of is the bus type by the word of a config, the zero BusType if absent.
func (b Buses) Of(kind string) BusType {
	for i := range b {
		if b[i].Type == kind {
			return b[i]
		}
	}
	return BusType{}
}

// Has reports whether kind is one of them.
func (b Buses) Has(kind string) bool { return b.Of(kind).Driver != nil }

// Names are the bus types, sorted.
func (b Buses) Names() []string { return b.names(func(*servo.Traits) bool { return true }) }

// Named are those that are scanned for only where they are named, CAN those on CAN.
func (b Buses) Named() []string { return b.names(func(t *servo.Traits) bool { return t.Named }) }
func (b Buses) CAN() []string   { return b.names(func(t *servo.Traits) bool { return t.Filters != nil }) }

func (b Buses) names(is func(*servo.Traits) bool) (names []string) {
	for i := range b {
		if is(&b[i].Traits) {
			names = append(names, b[i].Type)
		}
	}
	slices.Sort(names)
	return names
}

// Scanned reads --protocol: the bus types to ask for, in their order.
func (b Buses) Scanned(word string) (types []string, err error) {
	packets := map[string]bool{}
	for i := range b {
		t := &b[i].Traits
		switch {
		case t.Type == word:
			return []string{word}, nil
		case word == "all" && !t.Named && !packets[t.Packets], word == "both" && t.Both:
			// Devices of equal packets are found by the first.
			types = append(types, t.Type)
			packets[t.Packets] = t.Packets != ""
		}
	}
	if types == nil {
		err = &hal.Error{Kind: hal.Invalid, Op: "--protocol",
			Err: fmt.Errorf("got %q, want all, both or one of %s", word, strings.Join(b.Names(), ", "))}
	}
	return types, err
}

// Alike are the other bus types with the packets of kind.
func (b Buses) Alike(kind string) (types []string) {
	packets := b.Of(kind).Packets
	return b.names(func(o *servo.Traits) bool { return packets != "" && o.Packets == packets && o.Type != kind })
}

// Model finds a servo model of any bus type, nil if absent.
func (b Buses) Model(name string) servo.Model {
	for i := range b {
		if m := servo.FindModel(b[i].Driver, name); m != nil {
			return m
		}
	}
	return nil
}

// Motor is the actuator model of a servo model, nil if absent.
func (b Buses) Motor(name string) *actuator.Spec {
	for i := range b {
		for _, m := range b[i].Motors {
			if m.Name == name {
				return m
			}
		}
	}
	m, _ := actuator.Lookup(name)
	return m
}

// Lookup finds a model of the bus type, nil if absent.
func (t BusType) Lookup(model string) servo.Model {
	if t.Driver == nil {
		return nil
	}
	return servo.FindModel(t.Driver, model)
}

// RegisterNames are the names of a model's table.
func RegisterNames(m servo.Model) (names []string) {
	for _, r := range m.Table() {
		names = append(names, r.Name)
	}
	return names
}

// SettingNames returns the names of a model's settings in a config: those of its table, or those of the bus type.
func (t BusType) SettingNames(m servo.Model) []string { return append(RegisterNames(m), t.Guard...) }

// Parity sets the parity of a line that supports it: a port of the system does, a bus in memory does not.
func Parity(line servo.Line, even bool) error {
	if quiet, ok := line.(*servo.EchoFilter); ok {
		line = quiet.Line
	}
	if l, ok := line.(interface{ SetEven(bool) error }); ok {
		return l.SetEven(even)
	}
	return nil
}

// opener is open with the parity of t.
func (t BusType) opener(open servo.Opener) servo.Opener {
	return func() (servo.Line, error) {
		line, err := open()
		if err != nil {
			return nil, err
		}
		if err := Parity(line, t.Even); err != nil {
			return nil, errors.Join(err, line.Close())
		}
		return line, nil
	}
}

// PortOpener opens the port of a real bus, a serial line or a CAN interface, on which servos have ids.
func (t BusType) PortOpener(bus *configs.Bus, ids []byte) servo.Opener {
	if t.Filters != nil {
		return can.Reopener(bus.Port, bus.Baud, t.Filters(ids)...)
	}
	return serial.Reopener(bus.Port, bus.Baud, bus.SerialBackend)
}

// Connect opens a line. If its adapter may echo transmitted bytes, it filters the echo, also after every reopening.
func (t BusType) Connect(open servo.Opener) (servo.Line, servo.Opener, error) {
	if !t.Duplex {
		return openFilteringEcho(t.opener(open))
	}
	line, err := open()
	return line, open, err
}
