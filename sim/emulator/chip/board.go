package chip

import (
	"time"

	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// Endpoint is an emulated board at the other end of a serial line, which answers at once.
type Endpoint interface {
	// Receive handles complete bytes of the host, and appends the board's reply.
	Receive(p []byte, now time.Duration, answer []byte) []byte
	// Power switches its power off or on.
	Power(on bool, now time.Duration)
}

// NewSerial returns the line called name, 8N1, with a board that has been under power for long.
func NewSerial(name string, baud int, seed int64, end Endpoint) *wire.Line {
	return wire.NewLine(name, max(1, baud), seed, NewBoard(end, max(1, baud)))
}

// thinker is an Endpoint that needs a while for its answers.
type thinker interface{ AnswerTime() time.Duration }

// NewBoard returns end as a board of a wire.Line at baud, by which it can be served on a pseudo terminal. It answers at
// once, or after its AnswerTime where it has one.
func NewBoard(end Endpoint, baud int) wire.Board { return &board{end: end, baud: baud} }

type board struct {
	end    Endpoint
	baud   int
	answer []byte
	at     time.Duration // time of its next transmission
}

func (b *board) Receive(p []byte, now time.Duration) {
	b.answer, b.at = b.end.Receive(p, now, b.answer), now
	if t, ok := b.end.(thinker); ok {
		b.at += t.AnswerTime()
	}
}

func (b *board) Next() time.Duration {
	if len(b.answer) == 0 {
		return wire.Never
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
