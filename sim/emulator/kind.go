package emulator

import (
	"time"

	"github.com/halyard-robotics/halyard/servo/dynamixel"
)

// sheet is what the emulator must know of a model of any vendor beside its table. Counts are ticks.
type sheet struct {
	name         string
	ramStart     uint16 // first address that a power loss clears
	turn, centre float64
	low, high    float64 // of the position mode
}

// kind is a vendor: what its registers bring about. It has no state of its own; that is the servo's.
type kind interface {
	protocol(b *Bus) protocol
	start(s *Servo)            // power has come, RAM is at its defaults
	derive(s *Servo)           // EEPROM was changed from outside
	drive(s *Servo)            // hand what the registers command to the actuator
	notice(s *Servo)           // alarms, and whatever else time brings; the actuator's alarms are up to date
	show(s *Servo, r *reading) // fill what is measured
	baud(s *Servo) int         // the rate that it is set to
	tune(s *Servo, baud int)   // set it to a rate, if it knows it
}

// protocol is what is spoken on a line: it turns a host's bytes into instructions, and obeys them.
type protocol interface {
	reset()                              // what was half heard is forgotten
	parse(p []byte, start time.Duration) // p begins at start
}

// robotis is the kind of Dynamixel servos.
type robotis struct{}

func (robotis) protocol(b *Bus) protocol { return newRobotisProtocol(b) }

func (robotis) baud(s *Servo) int { return s.model.Rate(byte(s.get(rBaud))) }

func (robotis) tune(s *Servo, baud int) {
	if code, ok := s.model.BaudCode(baud); ok {
		s.set(rBaud, int64(code))
	}
}

// robotisProtocol listens in both protocols, as servos of both may are connected to one line; each ignores the other's packets.
type robotisProtocol struct {
	bus     *Bus
	parsers [2]*dynamixel.Parser
	in      dynamixel.Instruction
}

func newRobotisProtocol(b *Bus) *robotisProtocol {
	t := &robotisProtocol{bus: b}
	for i := range t.parsers {
		t.parsers[i] = dynamixel.NewParser(i+1, dynamixel.FromHost)
	}
	return t
}

func (t *robotisProtocol) reset() {
	for _, p := range t.parsers {
		p.Reset()
	}
}

func (t *robotisProtocol) parse(p []byte, start time.Duration) {
	for i, parser := range t.parsers {
		var k dynamixel.Packet
		t.bus.feed(&parser.Framer, p, start, func() bool { return parser.Next(&k) }, func(end time.Duration) {
			var err error
			if i == 0 {
				err = k.Instruction1(&t.in)
			} else {
				err = k.Instruction2(&t.in)
			}
			t.bus.execute(i+1, &t.in, err != nil, end)
		})
	}
}
