package player

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/protocols"
)

var errSilent = errors.New("player: silent")

// session is one client. Its reader, the goroutine of run, handles requests and commands; its writer publishes and
// sends; a stream for each open camera. The rig calls Cycle, which waits for none of them.
type session struct {
	server *Server
	log    *slog.Logger
	conn   net.Conn
	rig    *hal.Session
	queue  *queue

	// The reader's.
	lease    *hal.Lease
	control  control
	stepper  protocols.Stepper
	base     *base // of position2d, or nil
	measured []float64
	status   []hal.Status
	refused  map[string]bool // logged
	flew     bool            // its last commands are the Flyer's

	due    atomic.Bool // data is to be published
	cycles uint64      // Cycle's: since data was due

	mu      sync.Mutex
	open    []entry
	streams map[int]func() // of each open camera: ends it
	latest  map[int]*cameraData
	running sync.WaitGroup
}

func newSession(s *Server, conn net.Conn, log *slog.Logger) *session {
	c := &session{server: s, conn: conn, log: log, queue: newQueue(), refused: map[string]bool{},
		streams: map[int]func(){}, latest: map[int]*cameraData{}}
	l := s.robot.Agent.Layout()
	c.control = control{session: c, layout: l, inputs: make([]float64, len(l.Inputs))}
	hal.FillNaN(c.control.inputs)
	for _, e := range s.entries {
		if b, ok := e.unit.(*base); ok {
			c.base = b
		}
	}
	c.rig = s.rig.NewSession("player@"+conn.RemoteAddr().String(), c)
	c.stepper = protocols.Stepper{Rig: s.rig, Session: c.rig, Conn: conn, Timeout: s.options.ClientTimeout,
		Silent: errSilent, Beat: c.beat}
	return c
}

// run serves until the client leaves or ctx ends, and returns the reason.
func (s *session) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(ctx, func() { s.conn.Close() })
	defer stop()
	defer cancel()
	s.running.Go(func() {
		defer s.server.rig.Contain("player writer")
		defer s.conn.Close() // the reader ends with it
		s.write(ctx)
	})
	s.stepper.Received = time.Now()
	err := s.serve(ctx)
	cancel()
	s.mu.Lock()
	for _, end := range s.streams {
		end()
	}
	s.mu.Unlock()
	s.running.Wait()
	if s.flew {
		s.server.robot.Flyer.Fly([3]float64{}, [3]float64{})
	}
	return err
}

// Cycle is the rig's call after each cycle: it counts until data is due.
func (s *session) Cycle(c *hal.Cycle) {
	if c.Reset {
		return
	}
	s.cycles++
	if time.Duration(s.cycles)*s.server.rig.Period() >= interval {
		s.cycles = 0
		s.due.Store(true)
		s.queue.rouse()
	}
}

// serve reads and handles messages.
func (s *session) serve(ctx context.Context) error {
	var header [headerSize]byte
	for {
		if err := s.fill(header[:]); err != nil {
			return err
		}
		var h Header
		if err := h.Decode(header[:]); err != nil {
			s.server.traffic.Drop(protocols.Unknown)
			return err
		}
		if h.Size > maxPayload {
			s.server.traffic.Drop(protocols.Oversized)
			return fmt.Errorf("%v: size: got %d, want at most %d: %w", h.Device, h.Size, maxPayload, ErrFormat)
		}
		payload := make([]byte, h.Size)
		if err := s.fill(payload); err != nil {
			return err
		}
		s.stepper.Received = time.Now()
		s.server.traffic.Receive()
		if !protocols.Recognize(s.conn) {
			return protocols.ErrStranger
		}
		// Commands persist while their program sends anything at all, also requests for data.
		s.stepper.Renew()
		if err := s.handle(ctx, &h, payload); err != nil {
			return err
		}
	}
}

// fill reads all of b; meanwhile its robot stays commanded.
func (s *session) fill(b []byte) error {
	for len(b) > 0 {
		n, err := s.stepper.Read(b)
		if err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// beat drives on to the client's goal.
func (s *session) beat(now time.Time) error {
	k := &s.control
	if k.goal == nil || s.base == nil {
		return nil
	}
	err := s.base.towards(k)
	// towards commands again at each beat: for a client that hangs it must not
	hangs := now.Sub(s.stepper.Received) > protocols.MaxUnread && s.server.robot.Agent.BodyKind() != hal.Simulated
	if hangs || err != nil {
		k.goal = nil
		s.base.drive(k, pose2{})
	}
	return s.commit()
}

// hold takes the robot's lease, which another client or protocol may have.
func (s *session) hold() error {
	if s.lease != nil {
		return nil
	}
	lease, err := s.rig.Acquire(s.server.robot.Agent)
	if err != nil {
		return err
	}
	s.lease = lease
	s.stepper.Begin(lease, s.control.layout)
	return nil
}

// commit hands the staged inputs on: at once in real time, with the next step in lock-step.
func (s *session) commit() error {
	k := &s.control
	if !k.staged {
		return nil
	}
	k.staged = false
	return s.stepper.Commit(k.layout, k.inputs)
}

// now is what the robot measured last. It is the reader's until the next call.
func (s *session) now() *sample {
	var now sample
	s.measured, s.status, now.time = protocols.Measure(s.server.robot.Agent, s.measured, s.status)
	now.measured = s.measured
	return &now
}

// write publishes what is due and sends what waits.
func (s *session) write(ctx context.Context) {
	out := make([]byte, bannerSize)
	copy(out, banner)
	var now sample
	var status []hal.Status
	for {
		if s.due.Swap(false) && s.queue.room() {
			now.measured, status, now.time = protocols.Measure(s.server.robot.Agent, now.measured, status)
			for _, e := range s.opened() {
				e.unit.publish(&now, func(subtype uint8, p payload) { s.publish(e.device, subtype, now.time, p) })
			}
		}
		var synch bool
		var overflow uint32
		if out, synch, overflow = s.queue.take(out); synch {
			out = s.synch(out, overflow)
		}
		if len(out) > 0 {
			if err := s.flush(out); err != nil {
				s.server.traffic.Drop(protocols.Unsent)
				return
			}
			out = out[:0]
			continue
		}
		select {
		case <-s.queue.wake:
		case <-ctx.Done():
			return
		}
	}
}

func (s *session) flush(b []byte) error {
	s.conn.SetWriteDeadline(time.Now().Add(s.server.options.WriteTimeout))
	err := s.stepper.Write(b)
	s.server.traffic.Send()
	return err
}

// synch appends the message that ends the data of pull mode.
func (s *session) synch(out []byte, overflow uint32) []byte {
	h := Header{Device: Device{Player, 0}, Type: Synch, Subtype: synchOK}
	if overflow == 0 {
		return h.Append(out)
	}
	h.Subtype, h.Size = synchOverflow, 4
	return appendPayload(h.Append(out), &number{overflow})
}

// message is a header and its payload.
func (s *session) message(h Header, p payload) (Header, []byte) {
	b := appendPayload(make([]byte, headerSize, 128), p)
	h.Host, h.Robot, h.Size = localhost, s.server.port, uint32(len(b)-headerSize)
	h.Append(b[:0])
	return h, b
}

// publish queues data of a device.
func (s *session) publish(d Device, subtype uint8, at time.Duration, p payload) {
	s.queue.put(s.message(Header{Device: d, Type: Data, Subtype: subtype, Time: at.Seconds()}, p))
}

func (s *session) opened() []entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.open)
}
