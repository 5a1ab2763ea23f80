package main

import (
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers/can"
	"github.com/halyard-robotics/halyard/drivers/serial"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/cybergear"
	"github.com/halyard-robotics/halyard/servo/odrive"
	"github.com/halyard-robotics/halyard/servo/vesc"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/emulator"
)

// Motor controllers: VESC and ODrive on serial lines, ODrive and CyberGear on CAN.

// The types of bus that are CAN.
const (
	odriveCAN     = "odrive-can"
	cybergearType = "cybergear"
)

func vescBus() busType {
	return busType{
		lookup: func(model string) servoModel {
			if m := vesc.ModelByName(model); m != nil {
				return m
			}
			return nil
		},
		setting: noSetting,
		chain: func(c chainConfig) chain {
			cfg := vesc.ChainConfig{Name: c.name, Line: c.line, Reopen: c.reopen, Period: c.period, Latency: c.latency}
			for _, s := range c.servos {
				m, _ := s.model.(*vesc.Model)
				cfg.Motors = append(cfg.Motors, vesc.MotorConfig{ID: s.id, Model: m, Joint: s.joint})
			}
			return vesc.NewChain(cfg)
		},
		emulate: func(m servoModel, id int, act *actuator.Servo, t emulator.GroundTruth) *emulator.Servo {
			return emulator.NewVESC(m.(*vesc.Model), id, act, t)
		},
		duplex: true,
	}
}

// noSetting refuses every register: a controller keeps its settings for its maker's tool.
func noSetting(*servo.Register) bool { return false }

// anySetting takes what a model has registers for.
func anySetting(*servo.Register) bool { return true }

func odriveModel(model string) servoModel {
	if m := odrive.ModelByName(model); m != nil {
		return m
	}
	return nil
}

func odriveBus(onCAN bool) busType {
	t := busType{
		lookup: odriveModel, setting: noSetting, duplex: true,
		chain: func(c chainConfig) chain { return odrive.NewSerialChain(odriveAxes(c)) },
		emulate: func(m servoModel, id int, act *actuator.Servo, t emulator.GroundTruth) *emulator.Servo {
			return emulator.NewODrive(m.(*odrive.Model), id, act, t)
		},
	}
	if !onCAN {
		return t
	}
	t.setting = anySetting
	t.chain = func(c chainConfig) chain { return odrive.NewCANChain(odriveAxes(c)) }
	t.emulate = func(m servoModel, id int, act *actuator.Servo, t emulator.GroundTruth) *emulator.Servo {
		return emulator.NewODriveCAN(m.(*odrive.Model), id, act, t)
	}
	// A node's id is the upper six bits.
	t.filters = func(ids []byte) (list []can.Filter) {
		for _, id := range ids {
			list = append(list, can.Filter{ID: uint32(id) << 5, Mask: can.Extended | 0x3F<<5})
		}
		return list
	}
	return t
}

func odriveAxes(c chainConfig) odrive.ChainConfig {
	cfg := odrive.ChainConfig{Name: c.name, Line: c.line, Reopen: c.reopen, Period: c.period, Latency: c.latency}
	for _, s := range c.servos {
		m, _ := s.model.(*odrive.Model)
		cfg.Axes = append(cfg.Axes, odrive.AxisConfig{ID: s.id, Model: m, Joint: s.joint, Settings: s.settings})
	}
	return cfg
}

func cybergearBus() busType {
	return busType{
		lookup: func(model string) servoModel {
			if m := cybergear.ModelByName(model); m != nil {
				return m
			}
			return nil
		},
		setting: anySetting, duplex: true,
		chain: func(c chainConfig) chain {
			cfg := cybergear.ChainConfig{Name: c.name, Line: c.line, Reopen: c.reopen, Period: c.period, Latency: c.latency}
			for _, s := range c.servos {
				m, _ := s.model.(*cybergear.Model)
				cfg.Motors = append(cfg.Motors, cybergear.MotorConfig{ID: s.id, Model: m, Joint: s.joint, Calibrated: s.calibrated, Settings: s.settings})
			}
			return cybergear.NewChain(cfg)
		},
		emulate: func(m servoModel, id int, act *actuator.Servo, t emulator.GroundTruth) *emulator.Servo {
			return emulator.NewCyberGear(m.(*cybergear.Model), id, act, t)
		},
		// Answers are for this host; that to "who is there" is for all.
		filters: func([]byte) []can.Filter {
			return []can.Filter{{ID: can.Extended | cybergear.Host, Mask: can.Extended | 0xFF}, {ID: can.Extended | 0xFE, Mask: can.Extended | 0xFF}}
		},
	}
}

// portOpener opens the port of a real bus, a serial line or a CAN interface, on which servos have ids.
func (t *busType) portOpener(bus *configs.Bus, ids []byte) servo.Opener {
	if t.filters != nil {
		return can.Reopener(bus.Port, bus.Baud, t.filters(ids)...)
	}
	return serial.Reopener(bus.Port, bus.Baud, bus.Opener)
}

// connect opens a line and, where its adapter may hear what it sends, takes the echo out, then and after every reopening.
func (t *busType) connect(open servo.Opener) (servo.Line, servo.Opener, error) {
	if !t.duplex {
		return openFilteringEcho(t.opener(open))
	}
	line, err := open()
	return line, open, err
}
