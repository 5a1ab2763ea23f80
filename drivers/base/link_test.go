package base

import (
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/servo"
)

// babbler is a line at whose end somebody never ceases to speak.
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
	if err := b.Receive(); err != nil || line.reads != mostReads {
		t.Errorf("got %d reads, %v; want %d", line.reads, err, mostReads)
	}
}
