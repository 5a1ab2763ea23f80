package hal

import (
	"context"
	"io"
	"log/slog"
	"slices"
	"strconv"
	"time"
)

// Sink writes log records and text in a goroutine of its own, so that a terminal that is stopped or a pipe that is full
// delays neither the cycle nor a stop. It stores at most sinkSize entries; further ones are dropped and counted, and
// the count is written in their place. The zero Sink is ready for use. All methods may be called from any goroutine.
//
// The goroutine exists while entries wait. Flush waits for it.
type Sink struct {
	mu      leafLock
	queue   []func() // at most sinkSize
	running bool
	idle    chan struct{} // closed when the goroutine ends
	lost    uint64        // dropped since the last entry was stored
	dropped uint64
}

// sinkSize is the number of entries that a Sink stores.
const sinkSize = 512

// put stores write, or drops it. note, which writes how many entries were lost, precedes it where some were.
func (s *Sink) put(write func(), note func(lost uint64)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) >= sinkSize {
		s.lost++
		s.dropped++
		return
	}
	if n := s.lost; n > 0 {
		s.lost = 0
		inner := write
		write = func() { note(n); inner() }
	}
	s.queue = append(s.queue, write)
	if !s.running {
		s.running, s.idle = true, make(chan struct{})
		go s.drain(s.idle)
	}
}

// drain writes until the queue is empty.
func (s *Sink) drain(idle chan struct{}) {
	defer close(idle)
	for {
		s.mu.Lock()
		if len(s.queue) == 0 {
			s.queue, s.running = nil, false
			s.mu.Unlock()
			return
		}
		write := s.queue[0]
		s.queue[0] = nil
		s.queue = s.queue[1:]
		s.mu.Unlock()
		callOut("a log")
		write()
	}
}

// Dropped is the number of entries that were never written.
func (s *Sink) Dropped() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dropped
}

// Flush waits until all entries are written, for timeout at most. It reports whether they are.
func (s *Sink) Flush(timeout time.Duration) bool {
	s.mu.Lock()
	idle, running := s.idle, s.running
	s.mu.Unlock()
	if !running {
		return true
	}
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-idle:
		return true
	case <-timer.C:
		return false
	}
}

// Writer returns a writer that passes each write to w through s. It copies the bytes and never fails.
func (s *Sink) Writer(w io.Writer) io.Writer { return sinkWriter{s, w} }

type sinkWriter struct {
	sink *Sink
	to   io.Writer
}

func (w sinkWriter) Write(p []byte) (int, error) {
	text := slices.Clone(p)
	w.sink.put(func() { w.to.Write(text) }, func(lost uint64) {
		io.WriteString(w.to, "halyard: "+lostText(lost)+"\n")
	})
	return len(p), nil
}

// Handler returns a handler that hands each record to h through s.
func (s *Sink) Handler(h slog.Handler) slog.Handler { return sinkHandler{s, h} }

type sinkHandler struct {
	sink *Sink
	to   slog.Handler
}

// Enabled leaves the level to the goroutine that writes: the caller may hold a lock.
func (h sinkHandler) Enabled(context.Context, slog.Level) bool { return true }

func (h sinkHandler) Handle(_ context.Context, r slog.Record) error {
	r = r.Clone()
	// The context of the caller may be over when the record is written.
	h.sink.put(func() {
		if h.to.Enabled(context.Background(), r.Level) {
			h.to.Handle(context.Background(), r)
		}
	}, func(lost uint64) {
		h.to.Handle(context.Background(), slog.NewRecord(r.Time, slog.LevelWarn, lostText(lost), 0))
	})
	return nil
}

func (h sinkHandler) WithAttrs(a []slog.Attr) slog.Handler {
	return sinkHandler{h.sink, h.to.WithAttrs(a)}
}
func (h sinkHandler) WithGroup(name string) slog.Handler {
	return sinkHandler{h.sink, h.to.WithGroup(name)}
}

func lostText(n uint64) string {
	return "log entries dropped, the output was blocked: " + strconv.FormatUint(n, 10)
}
