package catalog

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
	OdriveCAN     = "odrive-can"
	CybergearType = "cybergear"
)

func vescBus() BusType {
	return BusType{
		Lookup: func(model string) ServoModel {
			if m := vesc.ModelByName(model); m != nil {
				return m
			}
			return nil
		},
		Setting: noSetting,
		Chain: func(c ChainConfig) Chain {
			cfg := vesc.ChainConfig{Name: c.Name, Line: c.Line, Reopen: c.Reopen, Period: c.Period, Latency: c.Latency}
			for _, s := range c.Servos {
				m, _ := s.Model.(*vesc.Model)
				cfg.Motors = append(cfg.Motors, vesc.MotorConfig{ID: s.Id, Model: m, Joint: s.Joint})
			}
			return vesc.NewChain(cfg)
		},
		Emulate: func(m ServoModel, id int, act *actuator.Servo, t emulator.GroundTruth) *emulator.Servo {
			return emulator.NewVESC(m.(*vesc.Model), id, act, t)
		},
		Duplex: true,
	}
}

// noSetting refuses every register: a controller keeps its settings for its maker's tool.
func noSetting(*servo.Register) bool { return false }

// anySetting takes what a model has registers for.
func anySetting(*servo.Register) bool { return true }

func OdriveModel(model string) ServoModel {
	if m := odrive.ModelByName(model); m != nil {
		return m
	}
	return nil
}

func odriveBus(onCAN bool) BusType {
	t := BusType{
		Lookup: OdriveModel, Setting: noSetting, Duplex: true,
		Chain: func(c ChainConfig) Chain { return odrive.NewSerialChain(odriveAxes(c)) },
		Emulate: func(m ServoModel, id int, act *actuator.Servo, t emulator.GroundTruth) *emulator.Servo {
			return emulator.NewODrive(m.(*odrive.Model), id, act, t)
		},
	}
	if !onCAN {
		return t
	}
	t.Setting = anySetting
	t.Chain = func(c ChainConfig) Chain { return odrive.NewCANChain(odriveAxes(c)) }
	t.Emulate = func(m ServoModel, id int, act *actuator.Servo, t emulator.GroundTruth) *emulator.Servo {
		return emulator.NewODriveCAN(m.(*odrive.Model), id, act, t)
	}
	// A node's id is the upper six bits.
	t.Filters = func(ids []byte) (list []can.Filter) {
		for _, id := range ids {
			list = append(list, can.Filter{ID: uint32(id) << 5, Mask: can.Extended | 0x3F<<5})
		}
		return list
	}
	return t
}

func odriveAxes(c ChainConfig) odrive.ChainConfig {
	cfg := odrive.ChainConfig{Name: c.Name, Line: c.Line, Reopen: c.Reopen, Period: c.Period, Latency: c.Latency}
	for _, s := range c.Servos {
		m, _ := s.Model.(*odrive.Model)
		cfg.Axes = append(cfg.Axes, odrive.AxisConfig{ID: s.Id, Model: m, Joint: s.Joint, Settings: s.Settings})
	}
	return cfg
}

func cybergearBus() BusType {
	return BusType{
		Lookup: func(model string) ServoModel {
			if m := cybergear.ModelByName(model); m != nil {
				return m
			}
			return nil
		},
		Setting: anySetting, Duplex: true,
		Chain: func(c ChainConfig) Chain {
			cfg := cybergear.ChainConfig{Name: c.Name, Line: c.Line, Reopen: c.Reopen, Period: c.Period, Latency: c.Latency}
			for _, s := range c.Servos {
				m, _ := s.Model.(*cybergear.Model)
				cfg.Motors = append(cfg.Motors, cybergear.MotorConfig{ID: s.Id, Model: m, Joint: s.Joint, Calibrated: s.Calibrated, Settings: s.Settings})
			}
			return cybergear.NewChain(cfg)
		},
		Emulate: func(m ServoModel, id int, act *actuator.Servo, t emulator.GroundTruth) *emulator.Servo {
			return emulator.NewCyberGear(m.(*cybergear.Model), id, act, t)
		},
		// Answers are for this host; that to "who is there" is for all.
		Filters: func([]byte) []can.Filter {
			return []can.Filter{{ID: can.Extended | cybergear.Host, Mask: can.Extended | 0xFF}, {ID: can.Extended | 0xFE, Mask: can.Extended | 0xFF}}
		},
	}
}

// PortOpener opens the port of a real bus, a serial line or a CAN interface, on which servos have ids.
func (t *BusType) PortOpener(bus *configs.Bus, ids []byte) servo.Opener {
	if t.Filters != nil {
		return can.Reopener(bus.Port, bus.Baud, t.Filters(ids)...)
	}
	return serial.Reopener(bus.Port, bus.Baud, bus.SerialBackend)
}

// Connect opens a line and, where its adapter may hear what it sends, takes the echo out, then and after every reopening.
func (t *BusType) Connect(open servo.Opener) (servo.Line, servo.Opener, error) {
	if !t.Duplex {
		return openFilteringEcho(t.opener(open))
	}
	line, err := open()
	return line, open, err
}
