package p2os

import (
	"math"
	"time"

	"github.com/halyard-robotics/halyard/drivers/base"
	"github.com/halyard-robotics/halyard/internal/wire/p2oswire"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// Chassis is the physics of the board: its motors and sensors. All values are of the cycle's edge.
type Chassis interface {
	// Drive sets the rim speeds of both sides, m/s; with on false they are not driven.
	Drive(left, right float64, on bool)
	// Rims is the distance of both since the start, m.
	Rims() (left, right float64)
	// Sonar is the distance to the nearest thing in transducer i's cone, m; +Inf if absent.
	Sonar(i int) float64
	// Bumper reports whether segment i of a ring is pressed, clockwise: of the front ring from the left, of the rear
	// one from the right.
	Bumper(rear bool, i int) bool
	// Turn is the rate of turning to the left, rad/s.
	Turn() float64
	// Volts is the battery's voltage.
	Volts() float64
}

// Times of the board.
const (
	tick     = 20 * time.Millisecond
	cycle    = 100 * time.Millisecond
	thinking = time.Millisecond      // from a command to its answer
	boot     = 50 * time.Millisecond // a real one takes a few seconds
	watchdog = 2 * time.Second
	braking  = time.Second // of an emergency stop
	stalling = time.Second // for which a bumper that stalls it is reported
)

// perReport is how many transducers fire between two reports: 40 ms each, both rings at once.
const perReport = 8

// Board is one base's controller.
type Board struct {
	// WrongConfig lets the checksum of its CONFIGpac always be wrong, as several Pioneers' firmware does.
	WrongConfig bool
	Mute        bool // it sends no CONFIGpac at all, as firmware before 1.6
	Configs     int  // how often it was asked for its configuration

	robot   base.Robot
	names   p2oswire.Names
	chassis Chassis
	baud    int
	arcos   bool

	powered  bool
	synced   int // how many SYNCs of a session came in order; 3 = it may be opened
	open     bool
	parser   *p2oswire.Parser
	next     time.Duration // tick
	report   time.Duration // when the next one is due
	free     time.Duration // when the wire has taken the last one
	out      []byte
	text     []byte        // of a packet that is being made
	answer   time.Duration // when out is sent
	ready    time.Duration // when it has booted
	received time.Duration // the last good packet

	motors bool
	estop  bool
	brake  time.Duration // until when an emergency stop holds the wheels
	drive
	speed    [2]float64    // after the ramp
	rims     [2]float64    // as last seen
	from     [2]float64    // at power-on, when the encoders begin at zero
	since    time.Duration // the last report
	reported [2]float64    // as of the last report
	actual   [2]float64    // m/s, over the time between two reports
	stall    [2]bool
	struck   time.Duration // when a bumper stalled it; 0 = never
	slow     [2]int        // ticks for which a side did not reach its commanded speed
	x, y, h  float64       // dead reckoned since SetO, m and rad

	sonar    bool
	fires    int    // the next transducer, or the next of the order
	order    string // in which they fire, by their numbers from 1; "" = one after the other
	encoder  int
	gyro     bool
	io       int
	gripper  int
	digital  byte
	grip     byte // state
	selected byte // analog input
}

// New returns the board of robot, at the serial rate of baud, on chassis. With arcos its reports have the fields of
// ARCOS.
func New(robot base.Robot, name string, baud int, arcos bool, chassis Chassis) *Board {
	return &Board{robot: robot, names: p2oswire.Names{Name: name, Class: "Pioneer", Subclass: robot.Name},
		chassis: chassis,
		baud:    baud, arcos: arcos, parser: p2oswire.NewParser()}
}

func (b *Board) Baud() int { return b.baud }

// Power is wire.Board's: without it everything but the wheels' place is lost.
func (b *Board) Power(on bool, now time.Duration) {
	*b = Board{WrongConfig: b.WrongConfig, Mute: b.Mute, Configs: b.Configs, robot: b.robot, names: b.names,
		chassis: b.chassis, baud: b.baud, arcos: b.arcos, parser: p2oswire.NewParser(), powered: on, next: now + boot,
		ready: now + boot, received: now, brake: now, since: now, sonar: true, grip: 1}
	b.drive = drive{accel: 0.3, decel: 0.3, turnUp: 0.3 * b.robot.Difference, turnDown: 0.3 * b.robot.Difference,
		limit: b.robot.MaxSpeed, turnMax: b.robot.MaxTurn}
	b.rims[0], b.rims[1] = b.chassis.Rims()
	b.reported, b.from = b.rims, b.rims
	b.chassis.Drive(0, 0, false)
}

// EmergencyStop is the red button; it latches until it is called with false.
func (b *Board) EmergencyStop(down bool) {
	if b.estop = down; down {
		b.switchMotors(false)
	}
}

// Motors reports whether they are on, and at which speed each side is driven, m/s.
func (b *Board) Motors() (on bool, left, right float64) { return b.motors, b.speed[0], b.speed[1] }

func (b *Board) switchMotors(on bool) {
	b.motors = on && !b.estop
	b.drive.stop()
	b.speed = [2]float64{}
	b.hold(b.received)
}

// hold passes the speeds to the chassis. After an emergency stop the motors continue to brake although they are
// switched off: a client waits for the robot to stop in a time without physics steps.
func (b *Board) hold(now time.Duration) {
	b.chassis.Drive(b.speed[0], b.speed[1], b.motors || now < b.brake)
}

func (b *Board) Next() time.Duration {
	if !b.powered {
		return wire.Never
	}
	if len(b.out) > 0 {
		return min(b.next, b.answer)
	}
	return b.next
}

// Transmit is wire.Board's: the output since the last tick.
func (b *Board) Transmit(dst []byte, now time.Duration) []byte {
	dst = append(dst, b.out...)
	b.out = b.out[:0]
	if now < b.next { // an answer between two ticks
		return dst
	}
	b.next = now + tick
	b.step(tick.Seconds(), now)
	if b.open && now >= b.report {
		b.report = now + cycle
		if now < b.free { // the board has no buffer for bytes beyond the rate of the wire
			return dst
		}
		for i := range b.rims {
			b.actual[i], b.reported[i] = (b.rims[i]-b.reported[i])/(now-b.since).Seconds(), b.rims[i]
		}
		b.since = now
		dst = b.reports(dst)
		b.free = now + servo.WireTime(len(dst), 10, b.baud)
	}
	return dst
}

// step is one tick of the board's control: ramps towards the goals, and dead reckoning by the rims.
func (b *Board) step(dt float64, now time.Duration) {
	if b.open && now-b.received > watchdog {
		b.drive.stop()
	}
	left, right := b.chassis.Rims()
	gone := [2]float64{left - b.rims[0], right - b.rims[1]}
	b.rims = [2]float64{left, right}
	if b.steer(); b.bumped() {
		b.drive.stop()
		b.speed, b.struck = [2]float64{}, now
	}
	b.ramp(dt)
	for i := range gone {
		// A wheel that does not follow for half a second.
		if b.slow[i]++; !b.motors || math.Abs(b.speed[i]) < 0.05 || math.Abs(gone[i]) > 0.1*math.Abs(b.speed[i])*dt {
			b.slow[i] = 0
		}
		b.stall[i] = b.slow[i] > 25 || b.struck > 0 && now-b.struck < stalling
	}
	b.hold(now)
	along, turn := (gone[0]+gone[1])/2, (gone[1]-gone[0])/2*b.robot.Difference
	sin, cos := math.Sincos(b.h + turn/2)
	b.x += float64(along * cos)
	b.y += float64(along * sin)
	b.h = math.Remainder(b.h+turn, 2*math.Pi)
}
