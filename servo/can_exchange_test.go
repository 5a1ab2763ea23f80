package servo_test

import (
	"errors"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/servotest"
)

// Frames are received from a CAN bus at any time, whole or in pieces; malformed frames and error frames of the
// controller are counted.
func TestCANExchange(t *testing.T) {
	frame := func(id uint32) []byte { return servo.AppendCAN(nil, &servo.CANFrame{ID: id, Len: 1}) }
	passive := servo.AppendCAN(nil, &servo.CANFrame{ID: 4, Error: true, Len: 8})
	broken := frame(1)
	broken[4] = 9
	join := func(parts ...[]byte) (all []byte) {
		for _, p := range parts {
			all = append(all, p...)
		}
		return all
	}
	for _, piece := range []int{0, 1, 16} {
		line := servotest.NewPlayback(1_000_000,
			servotest.Turn{Write: frame(7), Read: join(frame(1), passive, broken, frame(2), frame(3))},
			servotest.Turn{Write: frame(8), Read: frame(1)},
			servotest.Turn{Write: frame(9), Read: join(frame(5), frame(5))})
		line.Piece = piece
		x := servo.NewExchange(line, 9, 64, 16*servo.CANSize)
		var received []uint32
		c := servo.NewCANExchange(x, func(f *servo.CANFrame) bool {
			received = append(received, f.ID)
			return f.ID < 3
		})
		c.Put(&servo.CANFrame{ID: 7, Len: 1})
		if err := c.Collect(2, 0); err != nil || c.Bad != 2 || len(received) < 2 {
			t.Errorf("piece %d: got %v, %d bad, received %v", piece, err, c.Bad, received)
		}
		// One answer of two: silence, after the wire's time and the slack.
		start := line.Now()
		c.Put(&servo.CANFrame{ID: 8, Len: 1})
		if err := c.Collect(2, time.Millisecond); !errors.Is(err, servo.ErrNoReply) ||
			line.Now()-start > servo.Slack+2*time.Millisecond {
			t.Errorf("piece %d: got %v after %v", piece, err, line.Now()-start)
		}
		// Drain does not wait.
		c.Put(&servo.CANFrame{ID: 9, Len: 1})
		if err := x.Write(); err != nil {
			t.Fatal(err)
		}
		line.Pass(time.Millisecond)
		start, received = line.Now(), nil
		if err := c.Drain(); err != nil || line.Now() != start || piece != 1 && len(received) != 2 {
			t.Errorf("piece %d: drain: got %v, received %v, %v", piece, err, received, line.Now()-start)
		}
		if err := line.Close(); err != nil {
			t.Error(err)
		}
	}
	line := servotest.NewPlayback(1_000_000, servotest.Turn{Any: true, Gone: true})
	x := servo.NewExchange(line, 9, 64, 64)
	c := servo.NewCANExchange(x, func(*servo.CANFrame) bool { return true })
	c.Put(&servo.CANFrame{ID: 7})
	if err := c.Collect(1, 0); !errors.Is(err, servo.ErrDisconnected) || !errors.Is(c.Drain(), servo.ErrDisconnected) {
		t.Errorf("gone: got %v", err)
	}
}
