package p2os_test

import (
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/drivers/base"
	"github.com/halyard-robotics/halyard/sim/emulator/p2os"
)

// Any bytes from a client: a board neither panics nor moves before its motors were switched on in an open session.
func FuzzBoard(f *testing.F) {
	session := []byte{0xFA, 0xFB, 3, 0, 0, 0, 0xFA, 0xFB, 3, 1, 0, 1, 0xFA, 0xFB, 3, 2, 0, 2, 0xFA, 0xFB, 3, 1, 0, 1}
	f.Add(session)
	f.Add(append(session, 0xFA, 0xFB, 6, 0x0B, 0x3B, 0xC8, 0, 0xD3, 0x3B))
	// the gripper's -1
	f.Add(append(session, 0xFA, 0xFB, 6, 0x21, 0x1B, 1, 0, 0x22, 0x1B))
	// at most -100 mm/s, motors on
	f.Add(append(session, 0xFA, 0xFB, 6, 0x06, 0x1B, 100, 0, 0x6A, 0x1B, 0xFA, 0xFB, 6, 4, 0x3B, 1, 0, 5, 0x3B))
	f.Fuzz(func(t *testing.T, sent []byte) {
		robot, err := base.RobotOf("p2at")
		if err != nil {
			t.Fatal(err)
		}
		floor := p2os.NewFloor(robot.Difference)
		b := p2os.New(robot, "fuzz", 38400, true, floor)
		b.Power(true, 0)
		now := time.Second
		on := false
		for piece := sent; len(piece) > 0; piece = piece[min(len(piece), 9):] {
			b.Receive(piece[:min(len(piece), 9)], now)
			b.Transmit(nil, now)
			motors, left, right := b.Motors()
			if on = on || motors; !on && (left != 0 || right != 0) {
				t.Fatalf("moves at %g and %g m/s without motors", left, right)
			}
			now += 20 * time.Millisecond
		}
	})
}
