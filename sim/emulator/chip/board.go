package chip

import (
	"time"

	"github.com/halyard-robotics/halyard/sim/emulator/uart"
)

// NewBoard returns end as a board of a uart.Line at baud, by which it can be served on a pseudo terminal. What it answers,
// it answers at once.
func NewBoard(end Endpoint, baud int) uart.Board { return &board{end: end, baud: baud} }

type board struct {
	end    Endpoint
	baud   int
	answer []byte
	at     time.Duration // when it has something to say
}

func (b *board) Receive(p []byte, now time.Duration) {
	b.answer, b.at = b.end.Receive(p, now, b.answer), now
}

func (b *board) Next() time.Duration {
	if len(b.answer) == 0 {
		return uart.Never
	}
	return b.at
}

func (b *board) Transmit(dst []byte, _ time.Duration) []byte {
	dst = append(dst, b.answer...)
	b.answer = b.answer[:0]
	return dst
}

func (b *board) Baud() int { return b.baud }

func (b *board) Power(on bool, now time.Duration) {
	b.answer = b.answer[:0]
	b.end.Power(on, now)
}
