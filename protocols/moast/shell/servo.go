package shell

import (
	"errors"
	"io"
	"strconv"

	"github.com/halyard-robotics/halyard/protocols/moast"
)

// servo are the words of the servo level, as servoShell has them: mob, mis, eff and sp choose the subsystem that init, halt,
// stat and the rest mean.
func (s *Shell) servo() []command {
	var all []command
	for _, k := range []struct{ word, module, help string }{{"mob", "servoMobJA", "mobility"}, {"mis", "servoMisJA", "mission packages"},
		{"eff", "servoEffJA", "effectors"}, {"sp", "servoSP", "sensor processing"}} {
		all = append(all, command{k.word, "choose " + k.help, func([]string) error { return s.focus(k.word, k.module) }})
	}
	links := func(kind moast.LinkKind) func([]string) error {
		return func(args []string) error {
			v, err := parse(args, len(args))
			if err != nil || len(v) == 0 || len(v) > moast.MaxLinks {
				return errors.New("need <#>")
			}
			c := &moast.ServoMisCmdMove{}
			for _, value := range v {
				c.Links = append(c.Links, moast.LinkCmd{Value: value, Kind: kind})
			}
			return s.to("mis", "servoMisJA", c)
		}
	}
	numbered := func(name func(vehicle, n int) string) func([]string) error {
		return func(args []string) error {
			n := 1
			if len(args) > 0 {
				var err error
				if n, err = strconv.Atoi(args[0]); err != nil || n < 1 {
					return errors.New("need <n>")
				}
			}
			return s.print(name(s.Vehicle, n))
		}
	}
	return append(all,
		command{"num", "N: choose a mission package, from 1", s.numbers("<n>", 1, func(v []float64) error {
			if v[0] < 1 || v[0] > 99 {
				return errors.New("need <n>")
			}
			before := s.pack
			s.pack = int(v[0])
			if err := s.focus("mis", "servoMisJA"); err != nil {
				s.pack = before
				return err
			}
			return nil
		})},
		command{"go", "begin sensor processing", func([]string) error { return s.to("sp", "servoSP", &moast.Plain{Kind: 2005}) }},
		command{"skid", "LEFT RIGHT: turn the wheels, rad/s", s.numbers("<left> <right>", 2, func(v []float64) error {
			return s.to("mob", "servoMobJA", &moast.ServoMobCmdSkid{Left: v[0], Right: v[1]})
		})},
		command{"flip", "KIND ANGLE: turn a flipper: 0 FR, 1 FL, 2 RR, 3 RL; rad", s.numbers("<kind> <angle>", 2, func(v []float64) error {
			return s.to("mob", "servoMobJA", &moast.ServoMobCmdFlipSkid{Flippers: []moast.Flipper{{Kind: int32(v[0]), Angle: v[1]}}})
		})},
		command{"ackerman", "VELOCITY ANGLE: drive a car", s.numbers("<velocity> <angle>", 2, func(v []float64) error {
			return s.to("mob", "servoMobJA", &moast.ServoMobCmdAckerman{Velocity: v[0], SteerAngle: v[1]})
		})},
		command{"omni", "AHEAD RIGHT TURN: drive an omnidirectional platform", s.numbers("<ahead> <right> <turn>", 3, func(v []float64) error {
			return s.to("mob", "servoMobJA", &moast.ServoMobCmdOmni{Linear: v[0], Lateral: v[1], Rotation: v[2]})
		})},
		command{"movej", "# ...: move a package's links to values", links(moast.LinkPosition)},
		command{"movev", "# ...: move a package's links at speeds", links(moast.LinkVelocity)},
		command{"moveq", "# ...: apply torques to a package's links", links(moast.LinkTorque)},
		command{"opcode", "ID OPCODE PARAM: operate an effector", s.numbers("<id> <opcode> <param>", 3, func(v []float64) error {
			return s.to("eff", "servoEffJA", &moast.ServoEffCmdOpcode{Effector: int32(v[0]), Opcode: int32(v[1]), Param: v[2]})
		})},
		command{"nav", "print the position", func([]string) error { return s.print(moast.NavDataBuffer(s.Vehicle)) }},
		command{"sonar", "print the sonars", func([]string) error { return s.print(moast.SonarBuffer(s.Vehicle)) }},
		command{"range", "N: print a line scan", numbered(moast.LineScanBuffer)},
		command{"sensor", "N: print a sensor's values", numbered(moast.SensorDataBuffer)})
}

// focus chooses a subsystem.
func (s *Shell) focus(word, module string) error {
	pack := 0
	if word == "mis" {
		pack = s.pack
	}
	if err := s.open(moast.ModuleNamed(module), pack); err != nil {
		return err
	}
	s.word = word
	return nil
}

// to sends a command to a subsystem, which it chooses.
func (s *Shell) to(word, module string, c moast.Command) error {
	if s.word != word {
		if err := s.focus(word, module); err != nil {
			return err
		}
	}
	return s.send(c)
}

// print prints the message of a buffer.
func (s *Shell) print(buffer string) error {
	c, err := s.Open(buffer)
	if err != nil {
		return err
	}
	if c, ok := c.(io.Closer); ok {
		defer c.Close()
	}
	m, err := c.Peek(moast.New)
	if err != nil {
		return err
	}
	return Print(s.Out, m)
}
