package base

import (
	"os"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/p2oswire"
	"github.com/halyard-robotics/halyard/servo"
)

// babbler is a line whose device sends without a pause.
type babbler struct {
	servo.Line
	reads int
}

func (b *babbler) Read(p []byte, _ time.Duration) (int, error) { b.reads++; return len(p), nil }
func (b *babbler) Write(p []byte) (int, error)                 { return len(p), nil }

// A cycle ends though the other end does not.
func TestBabbler(t *testing.T) {
	line := &babbler{}
	robot, err := RobotOf("p2at")
	if err != nil {
		t.Fatal(err)
	}
	b, err := New(Settings{Robot: robot, Line: func() (servo.Line, error) { return line, nil }})
	if err != nil {
		t.Fatal(err)
	}
	b.line = line
	if err := b.Receive(); err != nil || line.reads != maxReads {
		t.Errorf("got %d reads, %v; want %d", line.reads, err, maxReads)
	}
}

// quiet is a line on which nothing comes, and a clock that goes on by what is asked of it.
type quiet struct {
	servo.Line
	now  time.Duration
	sent int
}

func (q *quiet) Read([]byte, time.Duration) (int, error) { return 0, os.ErrDeadlineExceeded }
func (q *quiet) Write(p []byte) (int, error)             { q.sent += len(p); return len(p), nil }
func (q *quiet) Baud() int                               { return 38400 }
func (q *quiet) Now() time.Duration                      { return q.now }
func (q *quiet) SleepUntil(t time.Duration)              { q.now = max(q.now, t) }

// A cycle allocates no memory, for every packet sent and received.
func TestCycleAllocatesNothing(t *testing.T) {
	robot, err := RobotOf("p2at")
	if err != nil {
		t.Fatal(err)
	}
	line := &quiet{}
	b, err := New(Settings{Robot: robot, Line: func() (servo.Line, error) { return line, nil }, Clock: line, Gyro: true,
		Encoders: true})
	if err != nil {
		t.Fatal(err)
	}
	b.line, b.stage = line, running
	r := p2oswire.Report{Flags: p2oswire.FlagMotors | p2oswire.FlagSonar, Count: 8}
	report := p2oswire.AppendPacket(nil, r.Append(nil))
	g := p2oswire.GyroReport{Count: 4}
	e := p2oswire.EncoderReport{}
	report = p2oswire.AppendPacket(p2oswire.AppendPacket(report, g.Append(nil)), e.Append(nil))
	speed := 0.0
	cycle := func() {
		line.now += 20 * time.Millisecond
		speed = 3 - speed
		for i := range b.wheels {
			b.SetGoal(i, servo.Goal{Enable: true, Mode: hal.VelocityMode, Velocity: speed, Limit: 1})
		}
		_ = b.Send()
		for p := report; len(p) > 0; {
			p = p[b.parser.Feed(p):]
			for data := b.parser.Data(); data != nil; data = b.parser.Data() {
				b.handle(data, line.now)
			}
		}
		_ = b.Receive()
	}
	for range 100 { // its motors are on then, and every cycle has another speed
		cycle()
	}
	if n := testing.AllocsPerRun(500, cycle); n != 0 || line.sent < 500*9 || b.State(0).Err != nil {
		t.Errorf("got %g allocations a cycle, %d bytes sent, %v; want none", n, line.sent, b.State(0).Err)
	}
}
