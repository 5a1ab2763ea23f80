package servo

import (
	"errors"
	"fmt"
	"testing"

	"github.com/halyard-robotics/halyard/hal"
)

// shut is a line that counts how often it was closed, and does not like it.
type shut struct {
	Line
	times int
}

func (s *shut) Close() error { s.times++; return errors.New("gone") }

// A line is closed once before it is opened again, even if Close returns an error.
func TestLone(t *testing.T) {
	first, second := &shut{}, &shut{}
	lines := []Line{first, second}
	l := PointToPoint{Bus: "uart", Device: "reader", Opener: func() (Line, error) {
		if len(lines) == 0 {
			return nil, ErrDisconnected
		}
		line := lines[0]
		lines = lines[1:]
		return line, nil
	}}
	if err := l.Close(); err != nil {
		t.Errorf("closed before it was open: %v", err)
	}
	if err := errors.Join(l.Open(), l.Open()); err != nil || first.times != 1 || l.Line != Line(second) {
		t.Errorf("opened twice: got %v, closed %d times", err, first.times)
	}
	if err := l.Open(); !errors.Is(err, ErrDisconnected) || second.times != 1 || l.Line != nil {
		t.Errorf("none there: got %v, closed %d times", err, second.times)
	}
	if err := l.Close(); err != nil || second.times != 1 {
		t.Errorf("closed: got %v, %d times", err, second.times)
	}
	for _, c := range []struct {
		kind hal.Kind
		err  error
		want hal.Kind
		try  string
	}{
		{hal.BusFault, errors.New("noise"), hal.BusFault, "halyard doctor"},
		{hal.BusFault, fmt.Errorf("read: %w", ErrDisconnected), hal.Absent, "halyard ports"},
		{hal.BusFault, ErrNoReply, hal.Timeout, "halyard doctor"},
		{hal.Absent, ErrNoReply, hal.Absent, "halyard doctor"},
	} {
		var e *hal.Error
		if err := l.Fault(c.kind, c.err); !errors.As(err, &e) || e.Kind != c.want || e.Try != c.try ||
			e.Bus != "uart" || e.Op != "reader" || !errors.Is(err, c.err) {
			t.Errorf("%v: got %v (%v), want %v, try %s", c.err, err, hal.KindOf(err), c.want, c.try)
		}
	}
}
