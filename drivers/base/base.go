package base

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/p2oswire"
	"github.com/halyard-robotics/halyard/servo"
)

// Side is where a wheel is.
type Side uint8

// The sides. All wheels of one side turn together.
const (
	Left Side = iota
	Right
)

// Settings are the settings of a base.
type Settings struct {
	Name  string // the bus's, for errors
	Robot Robot
	Line  servo.Opener // opens the line, and opens it again
	Clock hal.Clock    // the line's; nil = the wall's
	Bauds []int        // tried in this order; nil = 9600 and 38400
	// Wheels are the actuators of the chain; nil = one a side, left first. Wheels of one side share a motor: it goes at
	// the mean of the goals of those that are enabled.
	Wheels []Side
	// Coarse commands each side by itself in steps of 20 mm/s. Else speed and turn are commanded, in mm/s and whole
	// degrees a second.
	Coarse           bool
	Acceleration     float64 // m/s², above 0; 0 = the base's own
	TurnAcceleration float64 // rad/s²; likewise
	SonarOff         bool    // leave the sonar off
	// Polling is the order in which the transducers fire, a byte each, their numbers from 1; "" = the base's own. One
	// that is there twice fires twice as often, one that is not there is silent.
	Polling  string
	Odometry Correction // correction of the dead reckoning; zero = none
	Gyro     bool       // ask for the analog gyro
	Encoders bool       // ask for the encoders' counts
	IO       bool       // ask for all inputs and outputs
	Gripper  bool       // ask for the gripper's state
	// Runtime is how long a full battery lasts; 0 = not known.
	Runtime time.Duration
}

// Base is one robot base. It is a servo.Chain whose servos are wheels that take velocities; their ticks are millimetres
// of the rim, dead reckoned. Source gives its sensors. One goroutine at a time calls it.
//
// The base does not move before a wheel is enabled and the base has confirmed that its motors are on. They stay off
// after the base switched them off (its button, its emergency stop), after a silence of its watchdog's time, and after
// a new session. All wheels must then be disabled and one enabled again.
type Base struct {
	mu     sync.Mutex // the line: Send, Receive, Halt and CutTorque hold it
	cfg    Settings
	robot  Robot
	clock  hal.Clock
	line   servo.Line // nil while lost
	reopen servo.Reconnector
	parser *p2oswire.Parser
	out    []byte
	raw    [512]byte
	heard  []byte // the first bytes that came while no base was known, at the first rate

	stage  stage
	asked  time.Duration // when it was last asked for the next stage
	tries  int           // how often
	rate   int           // index in cfg.Bauds
	fresh  bool          // an open session is another's: close it first
	names  p2oswire.Names
	refuse error // it is another robot
	start  int   // settings sent since the session began
	extra  []p2oswire.Command

	reminded time.Duration // when something was asked for again
	configs  int           // how often the configuration was
	turn     int           // the request that was repeated last

	wheels []wheel
	drive  drive
	odo    odometry
	ticks  counts
	stats  Stats

	report    p2oswire.Report
	at        time.Duration // of the report; < 0 = none yet
	config    p2oswire.ConfigReport
	io        p2oswire.IOReport
	ioAt      time.Duration
	gripper   p2oswire.GripperReport
	gripperAt time.Duration
	senses    [numSenses]sense
	gyro      gyro
	silent    error // the error for no reply: one value, so that it is explained once
	lost      error
}

// wheel is one actuator.
type wheel struct {
	side  Side
	goal  servo.Goal
	state servo.State
}

// Stats are the counters of a base since New.
type Stats struct {
	Reports     uint64
	BadChecksum uint64 // packets
	Garbage     uint64 // bytes
	Malformed   uint64 // packets with a correct checksum and invalid contents
	Jumps       uint64 // rejected positions, too far from the last one
	Sessions    uint64 // opened
	Reopened    uint64 // lines
}

// farTicks bounds the ticks of a wheel, mm: farther than calibration's numbers go, and than any base drives.
const farTicks = 1e6

// New returns the base with settings s. It does no I/O.
func New(s Settings) (*Base, error) {
	fault := func(format string, args ...any) error {
		return &hal.Error{Kind: hal.Invalid, Bus: s.Name, Op: "base", Err: fmt.Errorf(format, args...)}
	}
	switch r := s.Robot; {
	case s.Line == nil:
		return nil, fault("line: missing")
	case !(r.Distance > 0 && r.Range > 0 && r.Speed > 0 && r.Difference > 0 && r.Radius > 0 && r.MaxSpeed > 0 &&
		r.MaxTurn > 0):
		return nil, fault("robot: got %q with units %g %g %g %g, wheel %g, speeds %g %g, want all above 0",
			r.Name, r.Distance, r.Range, r.Speed, r.Difference, r.Radius, r.MaxSpeed, r.MaxTurn)
	case len(r.Sonar) > p2oswire.MaxEchoes || r.Bumpers < 0 || r.Bumpers > 7:
		return nil, fault("robot: got %d sonars and %d bumpers a ring, want at most %d and 7", len(r.Sonar), r.Bumpers,
			p2oswire.MaxEchoes)
	}
	if len(s.Bauds) == 0 {
		s.Bauds = []int{9600, 38400}
	}
	if len(s.Wheels) == 0 {
		s.Wheels = []Side{Left, Right}
	}
	s.Clock = cmp.Or(s.Clock, hal.WallClock())
	b := &Base{cfg: s, robot: s.Robot, clock: s.Clock, parser: p2oswire.NewParser(), at: -1, fresh: true,
		reopen: servo.Reconnector{Bus: s.Name, Open: s.Line}}
	b.out, b.odo.by = make([]byte, 0, 2*p2oswire.MaxPacket), s.Odometry
	for _, side := range s.Wheels {
		nan := math.NaN()
		b.wheels = append(b.wheels, wheel{side: side, state: servo.State{Position: nan, Velocity: nan, Effort: nan,
			Voltage: nan, Temperature: nan, Time: -1}})
	}
	b.silent = &hal.Error{Kind: hal.Timeout, Bus: s.Name, Op: "report", Err: servo.ErrNoReply, Try: "halyard doctor"}
	b.makeSenses()
	b.updateWheels(nil)
	return b, nil
}

// Open tries one rate for rateTimeout, and for up to maxRateTimeout while anything is received.
const (
	rounds         = 2
	rateTimeout    = 3 * knock
	maxRateTimeout = 3 * time.Second
)

// Open opens the line and a session with the base, and verifies the robot type. A session left open by another program
// is closed first. Motors stay off. It tries all rates twice, for a base that was just switched on. It blocks for half
// a second at a rate without received bytes, and for up to three seconds at one with.
func (b *Base) Open() error {
	if b.line == nil {
		line, err := b.cfg.Line()
		if err != nil {
			return err
		}
		b.line = line
	}
	b.heard = b.heard[:0]
	for n := range rounds * len(b.cfg.Bauds) {
		i := n % len(b.cfg.Bauds)
		b.rate = i
		if err := b.tune(i); err != nil {
			return err
		}
		b.restart(true)
		began, garbageBefore := b.clock.Now(), b.stats.Garbage
		for now := began; now < began+maxRateTimeout; now = b.clock.Now() {
			if b.stage == knocking && now > began+rateTimeout && b.names == (p2oswire.Names{}) &&
				b.stats.Garbage == garbageBefore && b.at < began {
				break
			}
			err := b.sendDue(now)
			if err == nil {
				err = b.receive(10 * time.Millisecond)
			}
			if err != nil {
				return err
			}
			if b.refuse != nil {
				return b.refuse
			}
			if b.stage == running {
				b.updateWheels(nil)
				return nil
			}
		}
	}
	why := servo.ErrNoReply
	if len(b.heard) > 0 {
		why = servo.Foreign(b.heard)
	}
	return &hal.Error{Kind: hal.Absent, Bus: b.cfg.Name, Op: "open",
		Err: fmt.Errorf("no base answers at %v baud: %w", b.cfg.Bauds, why), Try: "halyard doctor"}
}

// Close ends the session, which switches the motors off, and closes the line.
func (b *Base) Close() error {
	err := b.reopen.Close()
	if b.line == nil {
		return err
	}
	if b.stage == running {
		b.put(p2oswire.Command{Op: p2oswire.OpStop}, number(p2oswire.OpEnable, 0),
			p2oswire.Command{Op: p2oswire.OpClose})
		err = errors.Join(err, b.flush())
	}
	err = errors.Join(err, b.line.Close())
	b.line = nil
	return err
}

// Units is servo.Chain's: the same for every wheel.
func (b *Base) Units(int) servo.Units {
	u := servo.Units{Name: b.robot.Name, TicksPerTurn: 2 * math.Pi * b.robot.Radius * 1000, MinTicks: -farTicks,
		MaxTicks:    farTicks,
		MaxVelocity: b.robot.MaxSpeed / b.robot.Radius, MaxEffort: 1, NominalVolts: 12,
		// The motors' torque is not published; this driver neither commands nor measures it.
		TorqueConstant: 10}
	u.Modes[hal.VelocityMode] = true
	return u
}

// SetGoal is servo.Chain's.
func (b *Base) SetGoal(i int, g servo.Goal) { b.wheels[i].goal = g }

// State is servo.Chain's.
func (b *Base) State(i int) *servo.State { return &b.wheels[i].state }

// Stats returns the counters since New.
func (b *Base) Stats() Stats {
	s := b.stats
	s.BadChecksum, s.Garbage = b.parser.BadChecksum, b.parser.Garbage
	return s
}

// Names, Report, Config, IO and GripperState return the last reports of the base, in its own units; zero if there was
// none. Call them between Receive and the next Send.
func (b *Base) Names() p2oswire.Names { return b.names }

// Report is the last report; the base sends ten a second.
func (b *Base) Report() p2oswire.Report { return b.report }

// Config is the answer to the one question that Open asks for it.
func (b *Base) Config() p2oswire.ConfigReport { return b.config }

// IO is the last report of inputs and outputs, where Settings.IO asks for it.
func (b *Base) IO() p2oswire.IOReport { return b.io }

// GripperState is the gripper's last report, where Settings.Gripper asks for it.
func (b *Base) GripperState() p2oswire.GripperReport { return b.gripper }

// maxExtra bounds the commands of Do that wait.
const maxExtra = 16

// Do sends a command with the next Send: for the gripper, a digital output, the auxiliary port. Commands for motion,
// the motors or the session are refused: use goals.
func (b *Base) Do(c p2oswire.Command) error {
	switch c.Op {
	case p2oswire.OpPulse, p2oswire.OpOpen, p2oswire.OpClose, p2oswire.OpEnable, p2oswire.OpMove, p2oswire.OpRotate,
		p2oswire.OpVel, p2oswire.OpHead, p2oswire.OpDHead, p2oswire.OpRVel, p2oswire.OpDChange, p2oswire.OpVel2,
		p2oswire.OpLatVel,
		p2oswire.OpJoyDrive, p2oswire.OpHostBaud, p2oswire.OpReset, p2oswire.OpSetO:
		return &hal.Error{Kind: hal.Unsafe, Bus: b.cfg.Name, Op: "do",
			Err: fmt.Errorf("got command %d, which moves the base or ends its session", c.Op)}
	}
	if len(b.extra) >= maxExtra {
		return &hal.Error{Kind: hal.Busy, Bus: b.cfg.Name, Op: "do", Err: fmt.Errorf("%d commands wait", len(b.extra))}
	}
	b.extra = append(b.extra, c)
	return nil
}

// sameRobot returns an error if the names reported by the base are not those of the configured robot.
func (b *Base) sameRobot() error {
	if strings.EqualFold(bare(strings.ToLower(b.names.Subclass)), b.robot.Name) {
		return nil
	}
	return &hal.Error{Kind: hal.Invalid, Bus: b.cfg.Name, Op: "open",
		Err: fmt.Errorf("robot %q: got a %s, want a %s", b.names.Name, b.names.Subclass, b.robot.Name),
		Try: "halyard doctor"}
}
