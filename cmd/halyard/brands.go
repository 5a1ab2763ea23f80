package main

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

// servoModel is what cmd must know of a servo model of any brand.
type servoModel interface {
	Register(name string) *servo.Register
	Units() servo.Units
	BaudCode(rate int) (byte, bool)
}

// chain is a line of servos of any brand.
type chain interface {
	servo.Chain
	Close() error
	Stats() servo.Stats
	Inline()
}

// chainConfig is what every brand's chain is made of.
type chainConfig struct {
	name            string
	line            servo.Line
	reopen          servo.Opener
	period, latency time.Duration
	servos          []chainServo
}

// chainServo is one servo of a chain.
type chainServo struct {
	id       byte
	model    servoModel
	joint    string
	settings []servo.Setting

	calibrated bool
}

// busType is one type of line: what hangs on it and how that is driven and emulated. Of a model that another type has
// lookup is nil.
type busType struct {
	lookup  func(model string) servoModel
	setting func(r *servo.Register) bool // a config may write it at the start
	chain   func(c chainConfig) chain
	emulate func(m servoModel, id int, act *actuator.Servo, t emulator.GroundTruth) *emulator.Servo
	even    bool                          // its bytes have an even parity bit
	duplex  bool                          // nobody hears what he sends himself
	filters func(ids []byte) []can.Filter // of CAN: the frames that are for this program; nil = a serial line
}

// busTypes are the types of line, by the word of the config.
var busTypes = map[string]busType{
	"dynamixel1": dynamixelBus(1),
	"dynamixel2": dynamixelBus(2),
	"feetech":    {lookup: feetechModel, setting: feetechSetting, chain: feetechChain, emulate: emulateFeetech},
	"hiwonder":   {lookup: hiwonderModel, setting: noSetting, chain: hiwonderChain, emulate: emulateHiwonder},
	"kondo":      {lookup: kondoModel, setting: kondoSetting, chain: kondoChain, emulate: emulateKondo, even: true},

	"vesc":        vescBus(),
	"odrive":      odriveBus(false),
	odriveCAN:     odriveBus(true),
	cybergearType: cybergearBus(),
}

// parity sets the parity of a line that has one, as a port of the system does and a bus in memory does not.
func parity(line servo.Line, even bool) error {
	if quiet, ok := line.(*servo.EchoFilter); ok {
		line = quiet.Line
	}
	if l, ok := line.(interface{ SetEven(bool) error }); ok {
		return l.SetEven(even)
	}
	return nil
}

// opener is open with the parity of t.
func (t *busType) opener(open servo.Opener) servo.Opener {
	return func() (servo.Line, error) {
		line, err := open()
		if err != nil {
			return nil, err
		}
		if err := parity(line, t.even); err != nil {
			return nil, errors.Join(err, line.Close())
		}
		return line, nil
	}
}

// typeNames are the types of line as a person reads them.
func typeNames() string {
	return strings.Join(slices.Sorted(maps.Keys(busTypes)), ", ")
}

// servoTypeNames are those of smart servos, which share a line and are told apart on it.
func servoTypeNames() string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(busTypes)) {
		if !busTypes[name].duplex {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// lookupServo finds a servo model of any brand, nil where there is none.
func lookupServo(model string) servoModel {
	for _, t := range busTypes {
		if m := t.lookup(model); m != nil {
			return m
		}
	}
	return nil
}

// dynamixelOf is the model of a Dynamixel servo, nil of another brand's.
func dynamixelOf(m servoModel) *dynamixel.Model {
	d, _ := m.(*dynamixel.Model)
	return d
}

func dynamixelBus(protocol int) busType {
	return busType{
		lookup: func(model string) servoModel {
			if m := dynamixel.ModelByName(model); m != nil && m.Protocol == protocol {
				return m
			}
			return nil // not a *Model that is nil inside an interface, here and below
		},
		setting: func(r *servo.Register) bool { return r.Setting() },
		chain: func(c chainConfig) chain {
			cfg := dynamixel.ChainConfig{Name: c.name, Line: c.line, Reopen: c.reopen, Period: c.period, Latency: c.latency}
			for _, s := range c.servos {
				cfg.Servos = append(cfg.Servos, dynamixel.ServoConfig{ID: s.id, Model: dynamixelOf(s.model), Joint: s.joint, Settings: s.settings})
			}
			return dynamixel.NewChain(cfg)
		},
		emulate: func(m servoModel, id int, act *actuator.Servo, t emulator.GroundTruth) *emulator.Servo {
			return emulator.NewServo(dynamixelOf(m), id, act, t)
		},
	}
}

func feetechModel(model string) servoModel {
	if m := feetech.ModelByName(model); m != nil {
		return m
	}
	return nil
}

func feetechSetting(r *servo.Register) bool {
	return r.Access != servo.ReadOnly && feetech.Settable(r.Name)
}

func feetechChain(c chainConfig) chain {
	cfg := feetech.ChainConfig{Name: c.name, Line: c.line, Reopen: c.reopen, Period: c.period, Latency: c.latency}
	for _, s := range c.servos {
		m, _ := s.model.(*feetech.Model)
		cfg.Servos = append(cfg.Servos, feetech.ServoConfig{ID: s.id, Model: m, Joint: s.joint, Settings: s.settings})
	}
	return feetech.NewChain(cfg)
}

func emulateFeetech(m servoModel, id int, act *actuator.Servo, t emulator.GroundTruth) *emulator.Servo {
	return emulator.NewFeetech(m.(*feetech.Model), id, act, t)
}

func hiwonderModel(model string) servoModel {
	if m := hiwonder.ModelByName(model); m != nil {
		return m
	}
	return nil
}

func hiwonderChain(c chainConfig) chain {
	cfg := hiwonder.ChainConfig{Name: c.name, Line: c.line, Reopen: c.reopen, Period: c.period, Latency: c.latency}
	for _, s := range c.servos {
		m, _ := s.model.(*hiwonder.Model)
		cfg.Servos = append(cfg.Servos, hiwonder.ServoConfig{ID: s.id, Model: m, Joint: s.joint})
	}
	return hiwonder.NewChain(cfg)
}

func emulateHiwonder(m servoModel, id int, act *actuator.Servo, t emulator.GroundTruth) *emulator.Servo {
	return emulator.NewHiwonder(m.(*hiwonder.Model), id, act, t)
}

func kondoModel(model string) servoModel {
	if m := kondo.ModelByName(model); m != nil {
		return m
	}
	return nil
}

func kondoSetting(r *servo.Register) bool { return r.Addr >= kondo.Stretch && r.Addr <= kondo.Heat }

func kondoChain(c chainConfig) chain {
	cfg := kondo.ChainConfig{Name: c.name, Line: c.line, Reopen: c.reopen, Period: c.period, Latency: c.latency}
	for _, s := range c.servos {
		m, _ := s.model.(*kondo.Model)
		cfg.Servos = append(cfg.Servos, kondo.ServoConfig{ID: s.id, Model: m, Joint: s.joint, Settings: s.settings})
	}
	return kondo.NewChain(cfg)
}

func emulateKondo(m servoModel, id int, act *actuator.Servo, t emulator.GroundTruth) *emulator.Servo {
	return emulator.NewKondo(m.(*kondo.Model), id, act, t)
}
