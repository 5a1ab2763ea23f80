package record

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
)

// Match is the differences between two recordings, cycle by cycle from the first of each on.
type Match struct {
	Comparison
	Offset int64  // cycles by which the second one's numbers are larger
	Ended  string // why not all cycles were compared; "" = the shorter one's end
}

// NewMatch compares the states of the agents that are in both a and b. If they begin at different cycles, times are not
// compared. When ctx ends, the result covers the cycles compared until then.
func NewMatch(ctx context.Context, a, b *Reader) (*Match, error) {
	m := &Match{Offset: int64(b.Info.First) - int64(a.Info.First)}
	next := func(file *Reader, into map[string][]byte) (n uint64, err error) {
		clear(into)
		for {
			msg, err := file.Next()
			if err != nil {
				return 0, err
			}
			switch TopicOf(msg.Topic) {
			case StateTopic:
				into[msg.Topic] = append([]byte(nil), withoutHolder(msg.Data)...)
			case CycleTopic:
				c, err := ParseCycle(msg.Data)
				return c.Number, err
			}
		}
	}
	was, is := map[string][]byte{}, &Capture{States: map[string][]byte{}}
	n, err := next(a, was)
	k, other := uint64(0), error(nil)
	if err == nil {
		k, other = next(b, is.States)
	}
	for err == nil && other == nil {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			m.Ended = "the time for it ran out"
			return m, nil
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		switch d := int64(k) - m.Offset - int64(n); {
		case d < 0:
			k, other = next(b, is.States)
			continue
		case d > 0:
			n, err = next(a, was)
			continue
		}
		// agents in only one of them are not compared
		maps.DeleteFunc(is.States, func(topic string, _ []byte) bool { return was[topic] == nil })
		maps.DeleteFunc(was, func(topic string, _ []byte) bool { return is.States[topic] == nil })
		if err := m.Compare(n, was, is); err != nil {
			return nil, err
		}
		if n, err = next(a, was); err == nil {
			k, other = next(b, is.States)
		}
	}
	if err != nil && err != io.EOF {
		return nil, err
	}
	if other != nil && other != io.EOF {
		return nil, other
	}
	return m, nil
}

// Rows are all that differs, the first first.
func (m *Match) Rows() []Divergence {
	list := m.Divergences()
	if m.Offset != 0 {
		list = slices.DeleteFunc(list, func(d Divergence) bool {
			return d.What == "time" || strings.HasPrefix(d.What, "devices.") && strings.HasSuffix(d.What, ".time")
		})
	}
	return list
}

// withoutHolder is a state as Capture has it.
func withoutHolder(state []byte) []byte {
	text := string(state)
	if i := strings.LastIndex(text, `,"holder":`); i > 0 {
		return append([]byte(text[:i]), '}')
	}
	return state
}
