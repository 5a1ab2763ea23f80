package laser_test

import (
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/drivers/lidar"
	"github.com/halyard-robotics/halyard/sim/emulator/laser"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// Any bytes from a host: a scanner neither panics nor sends more than its wire can carry, and continues.
func FuzzBoards(f *testing.F) {
	f.Add([]byte{2, 0, 2, 0, 0x20, 0x24, 0x34, 8})
	f.Add([]byte("MD0044072501000\nTM0\nSS115200\nGD0044072501\n"))
	f.Add([]byte{0xA5, 0x20, 0xA5, 0x82, 5, 0, 0, 0, 0, 0, 0x22, 0xA5, 0x84, 4, 0x7C, 0, 0, 0, 0x59})
	f.Fuzz(func(t *testing.T, sent []byte) {
		old := laser.NewHokuyo(model("URG-04LX"), 19200, room)
		old.Old = true
		for _, b := range []wire.Board{laser.NewSICK("LMS200;30106;V02.30", room),
			laser.NewHokuyo(model("UST-10LX"), 115200, room), old,
			laser.NewRPLidar(lidar.RPLidarFree, 115200, room)} {
			b.Power(true, 0)
			now, replied := time.Second, 0
			for piece := sent; len(piece) > 0; piece = piece[min(len(piece), 7):] {
				b.Receive(piece[:min(len(piece), 7)], now)
				for range 4 {
					if b.Next() > now+10*time.Millisecond {
						break
					}
					now = max(now, b.Next())
					replied += len(b.Transmit(nil, now))
				}
				now += 10 * time.Millisecond
			}
			if most := 20_000 * (1 + len(sent)); replied > most {
				t.Errorf("%T: got %d bytes in reply to %d", b, replied, len(sent))
			}
		}
	})
}
