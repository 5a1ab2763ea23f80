package doctor

import (
	"fmt"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers/pwm"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// What people report of their first days with a robot: servos as they came out of the box or out of another robot,
// plugs in each other's places, parts of another kind or voltage.

// replaced puts other servos on the line than in the config: what a config of the same robot with these keys has.
func replaced(set ...string) func(*TestRobot) error {
	return func(p *TestRobot) error {
		other, err := planFor(p.Config, p.Dir, configs.Options{Body: string(configs.Emulated), Set: set})
		if err == nil {
			p.Exam.world, err = assembly.EmulateWorld(other)
		}
		return err
	}
}

// armOf are the keys of the arm with servos of another model, and type of line, with ids that begin elsewhere.
func armOf(kind, model string, first int) (set []string) {
	if kind != "" {
		set = append(set, "buses.arm.type="+kind)
	}
	for i, joint := range []string{"base", "shoulder", "elbow", "wrist_pitch", "wrist_roll", "gripper"} {
		at := "agents[0].hardware.joints." + joint
		set = append(set, fmt.Sprintf("%s.id=%d", at, first+i))
		if model != "" {
			set = append(set, at+".model="+model)
		}
	}
	return set
}

// everyone plants a register's value in the servos 1 to n.
func everyone(n int, register string, v int64) func(*TestRobot) error {
	return func(p *TestRobot) error {
		for id := 1; id <= n; id++ {
			if err := preset(id, register, v)(p); err != nil {
				return err
			}
		}
		return nil
	}
}

// swapped opens each of two buses at the other's adapter.
func swapped(one, other string) func(*TestRobot) error {
	return func(p *TestRobot) error {
		cross := map[string]string{one: other, other: one}
		p.Exam.open = func(name string, kind configs.BodyKind) (servo.Line, error) {
			at := name
			if to, crossed := cross[name]; crossed {
				at = to
			}
			return p.Exam.through(name, kind, p.Exam.world.Bus(at).Open)
		}
		return nil
	}
}

// misplaced lets the config look for the boards at another address than they answer at.
func misplaced(address int) func(*TestRobot) error {
	return tampered(func(p *TestRobot, _ *assembly.Emulation) {
		for _, b := range p.Exam.plan.Boards {
			b.Address = address
		}
	})
}

// mislabelled lets the config take the device called name for another of its kind.
func mislabelled(name string, change func(*configs.Sensor)) func(*TestRobot) error {
	return tampered(func(p *TestRobot, _ *assembly.Emulation) {
		for _, s := range p.Exam.plan.Sensors {
			if s.Name != name {
				continue
			}
			change(&s.Config)
			s.Kind = catalog.SensorKinds()[s.Config.Device]
			if s.Kind.Scanner != nil {
				bus := p.Exam.plan.Config.Buses[s.Config.Bus]
				s.Scanner, _ = s.Kind.Scanner(&s.Config, &bus)
			}
		}
	})
}

// fieldFaultCases are what is plugged, numbered and configured otherwise than it is.
func fieldFaultCases() []FaultCase {
	const p2at = `classes["USARBot.P2AT"].hardware.sensors.scanner1=`
	const monitor = "agents[0].hardware.monitors."
	return []FaultCase{
		{"servos as they came", arm, "", nil, everyone(6, "baud_rate", 1), "baud", StateFail, noID, hal.BusFault,
			"all 6 servos answer at 57600 Bd, want 1000000", "set buses.arm.baud to 57600"},
		{"servos of protocol 1.0", arm, "", nil, replaced(armOf("dynamixel1", "mx-28", 1)...), "protocol", StateFail,
			noID, hal.Invalid,
			"a mx-28 answers at id 1 in protocol dynamixel1", "set buses.arm.type to dynamixel1"},
		{"servos of another brand", arm, "", nil, replaced(armOf("feetech", "sts3215", 1)...), "protocol", StateFail,
			noID, hal.Invalid,
			"a sts3215 answers at id 1 in protocol feetech", "the joints' model to sts3215"},
		{"ids shifted by one", arm, "", nil, replaced(armOf("", "", 2)...), "servo", StateFail, 1, hal.Absent,
			"a xm430-w350 at id 7, which no joint has", "--new-id 1"},
		{"id never set", arm, "", nil, replaced("agents[0].hardware.joints.elbow.id=21"), "servo", StateFail, 3,
			hal.Absent,
			"a xm430-w350 at id 21, which no joint has", "--new-id 3"},
		{"numbered otherwise", arm, "", nil, replaced(armOf("", "", 11)...), "servo", StateFail, noID, hal.Absent,
			"none of the 6 servos answers, but a xm430-w350 at id 11", "put their ids into the config"},
		{"adapters swapped", humanoid, "", nil, swapped("left_leg", "right_leg"), "port", StateFail, AnyID,
			hal.BusFault, "answer here", "swap buses."},
		{"12 V on a servo of 7.4 V", sts, "", nil, supply(2, 12), "voltage", StateWarn, 2, 0,
			"12.0 V at a sts3215 of 7.4 V", "switch off"},
		{"board strapped otherwise", nodderRobot, "", nil, misplaced(pwm.PCA9685Address + 1), "device", StateFail, noID,
			hal.BusFault,
			"no acknowledge", fmt.Sprintf("something answers at 0x%02X", pwm.PCA9685Address)},
		{"another chip at the board's address", nodderRobot, "", nil,
			chipFault("main", wire.Fault{Kind: wire.Garbage, Target: pwm.PCA9685Address}),
			"device", StateWarn, noID, 0, "is no PCA9685", "INA219"},
		{"battery low before the start", nodderRobot,
			monitor + "battery={bus: main, device: ina219, address: 0x44, below: 60}", nil, nil,
			"alarm", StateWarn, noID, 0, "is below 60", "before anything moves"},
		{"hull wet before the start", nodderRobot, monitor + "leak={bus: main, device: ads1115, above: -1}", nil, nil,
			"alarm", StateWarn, noID, 0, "is above -1", "before anything moves"},
		{"pressure sensor of another range", nodderRobot, monitor + "depth={bus: main, device: ms5837-30ba}", nil,
			mislabelled("depth", func(s *configs.Sensor) { s.Device = "ms5837-02ba" }), "device", StateFail, noID,
			hal.Absent, "30ba", "set device"},
		{"scanner of another model", "p2at", p2at + "{bus: laser, device: hokuyo, model: urg-04lx}", nil,
			mislabelled("scanner1", func(s *configs.Sensor) { s.Model = "utm-30lx" }), "device", StateFail, noID,
			hal.Invalid, "URG-04LX", "set device and model"},
	}
}

// usedFaultCases are what a servo's last owner has left in it.
func usedFaultCases() []FaultCase {
	return []FaultCase{
		{"turned round by its drive mode", arm, "", nil, preset(3, "drive_mode", 1), "settings", StateWarn, 3, 0,
			"the other way round", "drive_mode=0"},
		{"profiles by time", arm, "", nil, preset(3, "drive_mode", 4), "settings", StateWarn, 3, 0, "for times",
			"drive_mode=0"},
		{"shadow id", arm, "", nil, preset(3, "shadow_id", 2), "settings", StateWarn, 3, 0, "for id 2",
			"shadow_id=255"},
		{"no protection", arm, "", nil, preset(3, "shutdown", 0), "settings", StateWarn, 3, 0, "shutdown is 0",
			"shutdown=52"},
		{"no protection", humanoid, "", nil, preset(7, "shutdown", 0), "settings", StateWarn, 7, 0, "shutdown is 0",
			"--id 7 shutdown="},
		{"no protection", sts, "", nil, preset(2, "unload_condition", 0), "settings", StateWarn, 2, 0,
			"unload_condition is 0", "unload_condition=44"},
		{"limits of another robot", arm, "", nil, preset(3, "max_position", 2100), "settings", StateWarn, 3, 0,
			"ticks 0..2100, end before", "range_ticks: [0, 2100]"},
		{"limits of another robot", sts, "", nil, preset(2, "min_position", 2000), "settings", StateWarn, 2, 0,
			"end before", "keep them"},
		{"limits of another robot", lx16a, "", nil, preset(2, "max_position", 520), "settings", StateWarn, 2, 0,
			"end before", "LeRobot"},
	}
}
