package emulator

import (
	"context"
	"time"

	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// longestTurn bounds the line time of a second host in one turn: a broadcast ping of all IDs at 9600 Bd.
const longestTurn = 3 * time.Second

// ServeSecondHost puts the bus, whose host is a rig in memory, on a pseudo terminal for a second host: a tool that
// reads or writes registers while the robot runs. between runs a function while the rig does not use the line. Its
// transfers take line time, as on a real bus; an incomplete instruction is discarded.
func (b *Bus) ServeSecondHost(ctx context.Context, link string, between func(func())) (path string, wait func() error,
	err error) {
	return wire.ServeSecondHost(ctx, b.Name(), b.baud, link,
		func(p []byte, baud int, dst []byte) (answer []byte, took time.Duration) {
			between(func() { answer, took = b.turn(p, baud, dst) })
			return answer, took
		})
}

// turn lets a second host send p and receive the answers.
func (b *Bus) turn(p []byte, baud int, dst []byte) ([]byte, time.Duration) {
	b.Lock()
	defer b.Unlock()
	end, began, own := busEnd{b}, b.Time(), b.host
	if b.IsGone() {
		return dst, 0
	}
	end.Tune(baud)
	b.Pass(end.Send(p, began))
	var piece [256]byte
	for until := began + longestTurn; b.Time() < until && end.Due() != wire.Never; {
		b.Pass(min(until, max(end.Due(), b.Time())))
		if n := end.Receive(piece[:], b.Time()); n > 0 {
			dst = append(dst, piece[:n]...)
		}
	}
	end.Tune(own)
	b.protocol.Reset()
	return dst, b.Time() - began
}
