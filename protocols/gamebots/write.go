package gamebots

import (
	"context"
	"time"

	"github.com/halyard-robotics/halyard/protocols"
)

// reply adds an answer to the pending ones. A client with too many pending answers is disconnected.
func (s *session) reply(write func(t *text)) {
	s.mu.Lock()
	t := text{b: s.replies}
	write(&t)
	s.replies = t.b
	full := len(s.replies) > maxReplies
	s.mu.Unlock()
	if full {
		s.drop(protocols.Unsent, "an answer", errDeaf)
		s.conn.Close()
		return
	}
	s.rouse()
}

// answer is a RES.
func (s *session) answer(kind, name, status string) {
	s.reply(func(t *text) { res(t, s.now(), s.decimals(), kind, name, status) })
}

// write sends to the client, answers first, until ctx ends or the client is gone. A client that reads too slowly is
// sent the newest messages when it has read the last: only answers pile up.
func (s *session) write(ctx context.Context) {
	var t text
	var spare []byte
	var until time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.wake:
		}
		s.mu.Lock()
		t.b, s.replies = s.replies, spare[:0]
		s.mu.Unlock()
		if k := s.robot.Load(); k != nil {
			k.append(&t, k.swapSample())
		}
		if spare = t.b; len(t.b) == 0 {
			continue
		}
		now := time.Now()
		// the deadline moves when half of it has passed, not with every message
		if limit := s.server.options.WriteTimeout; until.Sub(now) < limit/2 {
			until = now.Add(limit)
			s.conn.SetWriteDeadline(until)
		}
		if s.stepper.Write(t.b) != nil {
			s.server.traffic.Drop(protocols.Unsent)
			return
		}
		s.server.traffic.Send()
	}
}

// rouse wakes the writer. It never blocks: the rig calls it in its cycle.
func (s *session) rouse() {
	select {
	case s.wake <- struct{}{}:
	default: // it is awake
	}
}

// now is the time of an answer.
func (s *session) now() time.Duration {
	if k := s.robot.Load(); k != nil {
		return k.now()
	}
	return time.Duration(s.server.cycles.Load()) * s.server.rig.Period()
}

// decimals is how many decimals a time has.
func (s *session) decimals() int {
	if s.dialect.since(Later) {
		return fine
	}
	return coarse
}
