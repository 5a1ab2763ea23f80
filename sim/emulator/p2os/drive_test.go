package p2os_test

import (
	"math"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/drivers/base"
	"github.com/halyard-robotics/halyard/internal/wire/p2oswire"
	"github.com/halyard-robotics/halyard/sim/emulator/p2os"
)

// client talks to a board as ARIA does: commands as packets, a pulse now and then, reports read.
type client struct {
	t      *testing.T
	board  *p2os.Board
	floor  *p2os.Floor
	parser *p2oswire.Parser
	now    time.Duration
	report p2oswire.Report
	types  map[byte]int // of the packets that came
}

func newClient(t *testing.T) *client {
	t.Helper()
	model, err := base.RobotOf("p3dx")
	must(t, err)
	floor := p2os.NewFloor(model.Difference)
	c := &client{t: t, floor: floor, board: p2os.New(model, "Rosie", 9600, true, floor), parser: p2oswire.NewParser(),
		types: map[byte]int{}}
	c.board.Power(true, 0)
	c.pass(time.Second)
	for _, op := range []p2oswire.Op{p2oswire.OpPulse, p2oswire.OpOpen, p2oswire.OpClose, p2oswire.OpOpen} {
		c.say(p2oswire.Command{Op: op})
		c.pass(100 * time.Millisecond)
	}
	c.number(p2oswire.OpEnable, 1)
	return c
}

func (c *client) say(k p2oswire.Command) { c.board.Receive(k.Append(nil), c.now) }

func (c *client) number(op p2oswire.Op, v int) {
	c.say(p2oswire.Command{Op: op, Kind: p2oswire.Number, Int: v})
}

// pass lets time pass, in the board's ticks.
func (c *client) pass(d time.Duration) {
	c.t.Helper()
	for until := c.now + d; c.now < until; {
		c.now += 10 * time.Millisecond
		must(c.t, c.floor.Advance(10*time.Millisecond))
		if c.now%(500*time.Millisecond) == 0 {
			c.say(p2oswire.Command{Op: p2oswire.OpPulse})
		}
		for c.board.Next() <= c.now {
			c.parser.Feed(c.board.Transmit(nil, c.now))
			for data := c.parser.Data(); data != nil; data = c.parser.Data() {
				if c.types[data[0]]++; data[0] == 0x32 || data[0] == 0x33 {
					must(c.t, c.report.Decode(data))
				}
			}
		}
	}
}

// Places are gone to, and met.
func TestMoveAndHead(t *testing.T) {
	const degree = math.Pi / 180
	c := newClient(t)
	near := func(what string, got, want, within float64) {
		t.Helper()
		if math.Abs(got-want) > within {
			t.Errorf("%s: got %.3f, want %.3f", what, got, want)
		}
	}
	c.number(p2oswire.OpMove, 500)
	c.pass(6 * time.Second)
	near("MOVE 500", c.floor.X, 0.5, 0.01)
	c.number(p2oswire.OpMove, -200)
	c.pass(5 * time.Second)
	near("MOVE -200", c.floor.X, 0.3, 0.01)
	for _, x := range []struct {
		op   p2oswire.Op
		arg  int
		want float64
	}{{p2oswire.OpHead, 90, 90}, {p2oswire.OpDHead, -30, 60}, {p2oswire.OpHead, 200, 200}, {p2oswire.OpDHead, 20, 220},
		{p2oswire.OpDChange, 10, 230}, {p2oswire.OpHead, -170, 190}} {
		c.number(x.op, x.arg)
		c.pass(8 * time.Second)
		near("bearing", math.Remainder(c.floor.Heading-x.want*degree, 2*math.Pi), 0, 1.5*degree)
	}
	// Two DCHEAD during the turn add up: each is relative to the commanded heading.
	c.number(p2oswire.OpHead, 0)
	c.number(p2oswire.OpDChange, 20)
	c.number(p2oswire.OpDChange, 20)
	c.pass(8 * time.Second)
	near("DCHEAD twice", math.Remainder(c.floor.Heading-40*degree, 2*math.Pi), 0, 1.5*degree)
	// It heads while it drives, and a turning speed replaces the bearing.
	x, y := c.floor.X, c.floor.Y
	c.number(p2oswire.OpVel, 300)
	c.number(p2oswire.OpHead, 90)
	c.pass(5 * time.Second)
	near("driving", math.Remainder(c.floor.Heading-90*degree, 2*math.Pi), 0, 1.5*degree)
	if gone := math.Hypot(c.floor.X-x, c.floor.Y-y); gone < 0.8 {
		t.Errorf("VEL with HEAD: came %.2f m", gone)
	}
	c.number(p2oswire.OpRVel, 20)
	before := c.floor.Heading
	c.pass(2 * time.Second)
	near("RVEL", c.floor.Heading-before, 2*20*degree, 6*degree)
}

// SETRA sets how fast it begins to turn.
func TestTurningRamp(t *testing.T) {
	turned := func(rate int) float64 {
		c := newClient(t)
		c.number(p2oswire.OpSetRA, rate)
		c.number(p2oswire.OpRVel, 60)
		c.pass(500 * time.Millisecond)
		return c.floor.Heading
	}
	if slow, fast := turned(20), turned(200); slow <= 0 || fast < 3*slow {
		t.Errorf("half a second at 20 and 200 degrees/s2: got %.3f and %.3f rad", slow, fast)
	}
}

// A bumper stalls the base if BUMPSTALL is set, and allows it to back away.
func TestBumpStall(t *testing.T) {
	for _, on := range []int{0, 1, 2} {
		c := newClient(t)
		c.number(p2oswire.OpBumpStall, on)
		c.number(p2oswire.OpVel, 200)
		c.pass(2 * time.Second)
		c.floor.Pressed[0] = 3
		c.pass(300 * time.Millisecond)
		_, left, right := c.board.Motors()
		if stalls := on == 1; stalls != (left == 0 && right == 0) || stalls != (c.report.Stall&0x101 == 0x101) {
			t.Errorf("BUMPSTALL %d: got speeds %.2f %.2f, stall %04X", on, left, right, c.report.Stall)
		}
		c.number(p2oswire.OpVel, -200)
		c.pass(2 * time.Second)
		if _, left, right := c.board.Motors(); left > -0.1 || right > -0.1 {
			t.Errorf("BUMPSTALL %d: backing away: got speeds %.2f %.2f", on, left, right)
		}
	}
}

// CLOSE ends the streams and the outputs of a session; the next one begins without them.
func TestCloseEndsStreams(t *testing.T) {
	c := newClient(t)
	c.number(p2oswire.OpEncoder, 2)
	c.number(p2oswire.OpGyro, 1)
	c.number(p2oswire.OpIORequest, 2)
	c.number(p2oswire.OpGripperState, 2)
	c.number(p2oswire.OpDigOut, 0xFF0F)
	c.pass(time.Second)
	for _, kind := range []byte{0x90, 0x98, 0xF0, 0xE0} {
		if c.types[kind] < 5 {
			t.Errorf("packets %02X: got %d, want a stream", kind, c.types[kind])
		}
	}
	if c.report.DigitalOut != 0x0F {
		t.Errorf("outputs: got %02X", c.report.DigitalOut)
	}
	c.say(p2oswire.Command{Op: p2oswire.OpClose})
	for _, op := range []p2oswire.Op{p2oswire.OpPulse, p2oswire.OpOpen, p2oswire.OpClose, p2oswire.OpOpen} {
		c.say(p2oswire.Command{Op: op})
		c.pass(100 * time.Millisecond)
	}
	clear(c.types)
	c.pass(time.Second)
	for _, kind := range []byte{0x90, 0x98, 0xF0, 0xE0} {
		if c.types[kind] > 0 {
			t.Errorf("packets %02X after CLOSE: got %d", kind, c.types[kind])
		}
	}
	if c.types[0x32]+c.types[0x33] < 8 || c.report.DigitalOut != 0 {
		t.Errorf("the next session: got %d reports, outputs %02X", c.types[0x32]+c.types[0x33], c.report.DigitalOut)
	}
}
