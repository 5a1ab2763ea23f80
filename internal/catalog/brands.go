package catalog

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/drivers/can"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/dynamixel"
	"github.com/halyard-robotics/halyard/servo/feetech"
	"github.com/halyard-robotics/halyard/servo/hiwonder"
	"github.com/halyard-robotics/halyard/servo/kondo"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/emulator"
)

// ServoModel is what cmd must know of a servo model of any vendor.
type ServoModel interface {
	Register(name string) *servo.Register
	Units() servo.Units
	BaudCode(rate int) (byte, bool)
}

// Chain is a line of servos of any vendor.
type Chain interface {
	servo.Chain
	Close() error
	Stats() servo.Stats
	Inline()
}

// ChainConfig is what every vendor's chain is made of.
type ChainConfig struct {
	Name            string
	Line            servo.Line
	Reopen          servo.Opener
	Period, Latency time.Duration
	Servos          []ChainServo
}

// ChainServo is one servo of a chain.
type ChainServo struct {
	Id       byte
	Model    ServoModel
	Joint    string
	Settings []servo.Setting

	Calibrated bool
}

// BusType is one type of line: what is connected to it and how that is driven and emulated. Of a model that another type has
// lookup is nil.
type BusType struct {
	Lookup  func(model string) ServoModel
	Setting func(r *servo.Register) bool // a config may write it at the start
	Chain   func(c ChainConfig) Chain
	Emulate func(m ServoModel, id int, act *actuator.Servo, t emulator.GroundTruth) *emulator.Servo
	Even    bool                          // its bytes have an even parity bit
	Duplex  bool                          // nobody hears what he sends himself
	Filters func(ids []byte) []can.Filter // of CAN: the frames that are for this program; nil = a serial line
}

// BusTypes are the types of line, by the word of the config.
var BusTypes = map[string]BusType{
	"dynamixel1": dynamixelBus(1),
	"dynamixel2": dynamixelBus(2),
	"feetech":    {Lookup: feetechModel, Setting: feetechSetting, Chain: feetechChain, Emulate: emulateFeetech},
	"hiwonder":   {Lookup: hiwonderModel, Setting: noSetting, Chain: hiwonderChain, Emulate: emulateHiwonder},
	"kondo":      {Lookup: kondoModel, Setting: KondoSetting, Chain: kondoChain, Emulate: emulateKondo, Even: true},

	"vesc":        vescBus(),
	"odrive":      odriveBus(false),
	OdriveCAN:     odriveBus(true),
	CybergearType: cybergearBus(),
}

// Parity sets the parity of a line that has one, as a port of the system does and a bus in memory does not.
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
func (t *BusType) opener(open servo.Opener) servo.Opener {
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

// TypeNames are the types of line as a person reads them.
func TypeNames() string {
	return strings.Join(slices.Sorted(maps.Keys(BusTypes)), ", ")
}

// LookupServo finds a servo model of any vendor, nil where there is none.
func LookupServo(model string) ServoModel {
	for _, t := range BusTypes {
		if m := t.Lookup(model); m != nil {
			return m
		}
	}
	return nil
}

// DynamixelOf is the model of a Dynamixel servo, nil of another vendor's.
func DynamixelOf(m ServoModel) *dynamixel.Model {
	d, _ := m.(*dynamixel.Model)
	return d
}

func dynamixelBus(protocol int) BusType {
	return BusType{
		Lookup: func(model string) ServoModel {
			if m := dynamixel.ModelByName(model); m != nil && m.Protocol == protocol {
				return m
			}
			return nil // not a *Model that is nil inside an interface, here and below
		},
		Setting: func(r *servo.Register) bool { return r.Setting() },
		Chain: func(c ChainConfig) Chain {
			cfg := dynamixel.ChainConfig{Name: c.Name, Line: c.Line, Reopen: c.Reopen, Period: c.Period, Latency: c.Latency}
			for _, s := range c.Servos {
				cfg.Servos = append(cfg.Servos, dynamixel.ServoConfig{ID: s.Id, Model: DynamixelOf(s.Model), Joint: s.Joint, Settings: s.Settings})
			}
			return dynamixel.NewChain(cfg)
		},
		Emulate: func(m ServoModel, id int, act *actuator.Servo, t emulator.GroundTruth) *emulator.Servo {
			return emulator.NewServo(DynamixelOf(m), id, act, t)
		},
	}
}

func feetechModel(model string) ServoModel {
	if m := feetech.ModelByName(model); m != nil {
		return m
	}
	return nil
}

func feetechSetting(r *servo.Register) bool {
	return r.Access != servo.ReadOnly && feetech.Settable(r.Name)
}

func feetechChain(c ChainConfig) Chain {
	cfg := feetech.ChainConfig{Name: c.Name, Line: c.Line, Reopen: c.Reopen, Period: c.Period, Latency: c.Latency}
	for _, s := range c.Servos {
		m, _ := s.Model.(*feetech.Model)
		cfg.Servos = append(cfg.Servos, feetech.ServoConfig{ID: s.Id, Model: m, Joint: s.Joint, Settings: s.Settings})
	}
	return feetech.NewChain(cfg)
}

func emulateFeetech(m ServoModel, id int, act *actuator.Servo, t emulator.GroundTruth) *emulator.Servo {
	return emulator.NewFeetech(m.(*feetech.Model), id, act, t)
}

func hiwonderModel(model string) ServoModel {
	if m := hiwonder.ModelByName(model); m != nil {
		return m
	}
	return nil
}

func hiwonderChain(c ChainConfig) Chain {
	cfg := hiwonder.ChainConfig{Name: c.Name, Line: c.Line, Reopen: c.Reopen, Period: c.Period, Latency: c.Latency}
	for _, s := range c.Servos {
		m, _ := s.Model.(*hiwonder.Model)
		cfg.Servos = append(cfg.Servos, hiwonder.ServoConfig{ID: s.Id, Model: m, Joint: s.Joint})
	}
	return hiwonder.NewChain(cfg)
}

func emulateHiwonder(m ServoModel, id int, act *actuator.Servo, t emulator.GroundTruth) *emulator.Servo {
	return emulator.NewHiwonder(m.(*hiwonder.Model), id, act, t)
}

func kondoModel(model string) ServoModel {
	if m := kondo.ModelByName(model); m != nil {
		return m
	}
	return nil
}

func KondoSetting(r *servo.Register) bool { return r.Addr >= kondo.Stretch && r.Addr <= kondo.Heat }

func kondoChain(c ChainConfig) Chain {
	cfg := kondo.ChainConfig{Name: c.Name, Line: c.Line, Reopen: c.Reopen, Period: c.Period, Latency: c.Latency}
	for _, s := range c.Servos {
		m, _ := s.Model.(*kondo.Model)
		cfg.Servos = append(cfg.Servos, kondo.ServoConfig{ID: s.Id, Model: m, Joint: s.Joint, Settings: s.Settings})
	}
	return kondo.NewChain(cfg)
}

func emulateKondo(m ServoModel, id int, act *actuator.Servo, t emulator.GroundTruth) *emulator.Servo {
	return emulator.NewKondo(m.(*kondo.Model), id, act, t)
}
