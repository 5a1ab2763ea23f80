package shell

import (
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/halyard-robotics/halyard/internal/protocols/moast"
)

// maxNumber is the most of mission packages, effectors and sensors of a kind.
const maxNumber = 99

// servo are the words of the servo level, as servoShell has them: mob, mis, eff and sp choose the subsystem that init,
// halt, stat and the rest mean; sonar, range, nav and sensor what an empty line prints.
func (s *Shell) servo() []command {
	var all []command
	for _, k := range []struct{ word, module, help string }{{"mob", "servoMobJA", "mobility"},
		{"mis", "servoMisJA", "mission packages"},
		{"eff", "servoEffJA", "effectors"}, {"sp", "servoSP", "sensor processing"}} {
		all = append(all, command{k.word, "choose " + k.help + ", and print it", func([]string) error {
			if err := s.focus(k.word, k.module); err != nil {
				return err
			}
			return s.printView()
		}})
	}
	links := func(word string, kind moast.LinkKind) func([]string) error {
		return func(args []string) error {
			v, err := parse(args, len(args))
			if err != nil || len(v) == 0 || len(v) > moast.MaxLinks {
				return fmt.Errorf("syntax: %s <sequence of joint values>", word)
			}
			c := &moast.ServoMisCmdMove{}
			for _, value := range v {
				c.Links = append(c.Links, moast.LinkCmd{Value: value, Kind: kind})
			}
			return s.to("mis", "servoMisJA", c)
		}
	}
	numbered := func(word, what string, name func(vehicle, n int) string) func([]string) error {
		return func(args []string) error {
			n, err := number(args)
			if err != nil {
				return fmt.Errorf("need %s number 1 to %d", what, maxNumber)
			} else if n < 1 || n > maxNumber {
				return fmt.Errorf("bad %s number: %d", what, n)
			}
			return s.look(word, name(s.Vehicle, n))
		}
	}
	return append(append(all, s.kinematic()...),
		command{"num", "N: choose an effector after eff, else a mission package, from 1", s.num},
		command{"go", "begin sensor processing",
			func([]string) error { return s.to("sp", "servoSP", &moast.Plain{Kind: 2005}) }},
		command{"skid", "LEFT RIGHT: turn the wheels, rad/s",
			s.numbers("syntax: skid <left speed> <right speed>", 2, func(v []float64) error {
				return s.to("mob", "servoMobJA", &moast.ServoMobCmdSkid{Left: v[0], Right: v[1]})
			})},
		command{"flip", "KIND ANGLE: turn a flipper: 0 FR, 1 FL, 2 RR, 3 RL; rad",
			s.numbers("syntax: flip <kind> <angle>", 2, func(v []float64) error {
				return s.to("mob", "servoMobJA",
					&moast.ServoMobCmdFlipSkid{Flippers: []moast.Flipper{{Kind: int32(v[0]), Angle: v[1]}}})
			})},
		command{"ackerman", "SPEED ANGLE: drive a car",
			s.numbers("syntax: ackerman <speed> <steering angle>", 2, func(v []float64) error {
				return s.to("mob", "servoMobJA", &moast.ServoMobCmdAckerman{Velocity: v[0], SteerAngle: v[1]})
			})},
		command{"omni", "AHEAD RIGHT TURN: drive an omnidirectional platform",
			s.numbers("syntax: omni <ahead> <right> <turn>", 3, func(v []float64) error {
				return s.to("mob", "servoMobJA", &moast.ServoMobCmdOmni{Linear: v[0], Lateral: v[1], Rotation: v[2]})
			})},
		command{"movej", "# ...: move a package's links to values", links("movej", moast.LinkPosition)},
		command{"movev", "# ...: move a package's links at speeds", links("movev", moast.LinkVelocity)},
		command{"moveq", "# ...: apply torques to a package's links", links("moveq", moast.LinkTorque)},
		command{"opcode", "PARAM: switch the effector on, or off at 0",
			s.numbers("syntax: opcode <parameter>", 1, func(v []float64) error {
				c := &moast.ServoEffCmdOpcode{Effector: int32(s.effector), Param: v[0]}
				if v[0] > 0 {
					c.Opcode = 1
				}
				return s.to("eff", "servoEffJA", c)
			})},
		command{"nav", "print the position",
			func([]string) error { return s.look("nav", moast.NavDataBuffer(s.Vehicle)) }},
		command{"sonar", "print the sonars",
			func([]string) error { return s.look("sonar", moast.SonarBuffer(s.Vehicle)) }},
		command{"range", "N: print a line scan", numbered("range", "range sensor", moast.LineScanBuffer)},
		command{"sensor", "N: print a sensor's values", numbered("sensor", "sensor", moast.SensorDataBuffer)})
}

// number is the first of args as a whole number.
func number(args []string) (int, error) {
	if len(args) == 0 {
		return 0, strconv.ErrSyntax
	}
	return strconv.Atoi(args[0])
}

// num chooses the effector or the mission package.
func (s *Shell) num(args []string) error {
	n, err := number(args)
	if err != nil {
		return errors.New("syntax: num <subsystem number>")
	} else if n < 1 || n > maxNumber {
		return fmt.Errorf("syntax: num <1 .. %d>", maxNumber)
	}
	if s.word == "eff" {
		s.effector = n // all have one buffer
		return nil
	}
	before := s.pack
	s.pack = n
	if err := s.focus("mis", "servoMisJA"); err != nil {
		s.pack = before
		return err
	}
	return nil
}

// look prints sensors, and at each empty line from then on.
func (s *Shell) look(data, buffer string) error {
	s.data, s.buffer = data, buffer
	return s.print(buffer)
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
	s.word, s.data = word, ""
	return nil
}

// to sends a command to a subsystem, which it chooses.
func (s *Shell) to(word, module string, c moast.Command) error {
	if s.data = ""; s.word != word {
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
