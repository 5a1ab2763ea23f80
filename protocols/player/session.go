package player

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/protocols"
)

const (
	// heartbeat is how often the state of a connected client is checked.
	heartbeat = 100 * time.Millisecond
	// deaf is how long a client may leave data unread before it no longer counts as alive.
	deaf = 500 * time.Millisecond
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
	base     *base     // of position2d, or nil
	held     []float64 // commanded since the last step, in lock-step
	measured []float64
	status   []hal.Status
	beat     time.Time // of the next step
	received time.Time
	refused  map[string]bool // logged
	flew     bool            // its last commands are the Flyer's

	due     atomic.Bool  // data is to be published
	writing atomic.Int64 // Unix time, ns, since which a write waits; 0 = none does
	cycles  uint64       // Cycle's: since data was due

	mu      sync.Mutex
	open    []entry
	streams map[int]func() // of each open camera: ends it
	latest  map[int]*cameraData
	ending  bool
	running sync.WaitGroup
}

func newSession(s *Server, conn net.Conn, log *slog.Logger) *session {
	c := &session{server: s, conn: conn, log: log, queue: newQueue(), refused: map[string]bool{},
		streams: map[int]func(){}, latest: map[int]*cameraData{}}
	l := s.robot.Agent.Layout()
	c.control = control{session: c, layout: l, inputs: blank(len(l.Inputs))}
	c.held = blank(len(l.Inputs))
	for _, e := range s.entries {
		if b, ok := e.unit.(*base); ok {
			c.base = b
		}
	}
	c.rig = s.rig.NewSession("player@"+conn.RemoteAddr().String(), c)
	return c
}

// blank is n inputs without a command.
func blank(n int) []float64 {
	v := make([]float64, n)
	unset(v)
	return v
}

func unset(v []float64) {
	for i := range v {
		v[i] = math.NaN()
	}
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
	s.received = time.Now()
	err := s.serve(ctx)
	cancel()
	s.mu.Lock()
	s.ending = true
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
		s.received = time.Now()
		s.server.traffic.Receive()
		// Commands persist while their program sends anything at all, also requests for data.
		if s.lease != nil {
			s.rig.Renew(s.lease)
		}
		if err := s.handle(ctx, &h, payload); err != nil {
			return err
		}
	}
}

// fill reads all of b.
func (s *session) fill(b []byte) error {
	for len(b) > 0 {
		n, err := s.read(b)
		if err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// read waits for the client; meanwhile its robot stays commanded.
func (s *session) read(b []byte) (int, error) {
	for {
		if err := s.step(); err != nil {
			return 0, err
		}
		n, err := s.conn.Read(b)
		if n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
		if t := s.server.options.ClientTimeout; t > 0 && time.Since(s.received) >= t {
			return 0, errSilent
		}
	}
}

// step drives on to the client's goal, and in lock-step lets time pass at the pace of the wall clock: clients of this
// protocol do not ask for steps.
func (s *session) step() error {
	now := time.Now()
	if now.Before(s.beat) {
		return nil
	}
	every := heartbeat
	if s.server.rig.Mode() == hal.Lockstep && s.lease != nil {
		every = s.server.rig.Period()
	}
	if s.beat = s.beat.Add(every); s.beat.Before(now) {
		s.beat = now.Add(every)
	}
	s.conn.SetReadDeadline(s.beat)
	if s.lease == nil {
		return nil
	}
	realtime := s.server.rig.Mode() == hal.Realtime
	if since := s.writing.Load(); since != 0 && now.UnixNano()-since > int64(deaf) && realtime {
		return nil // a client that does not read must not go on driving: the guard decides
	}
	if k := &s.control; k.goal != nil && s.base != nil {
		err := s.base.towards(k)
		// towards commands again at each beat: for a client that hangs it must not
		if silent := now.Sub(s.received) > deaf && s.server.robot.Agent.BodyKind() != hal.Simulated; silent || err != nil {
			k.goal = nil
			s.base.drive(k, 0, 0)
		}
		if err := s.commit(); err != nil {
			return err
		}
	}
	if !realtime && s.lease.Pending() {
		return nil
	}
	err := s.rig.Step(s.lease, s.held)
	unset(s.held)
	return err
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
	s.lease, s.beat = lease, time.Time{}
	return nil
}

// commit hands the staged inputs on: at once in real time, with the next step in lock-step.
func (s *session) commit() error {
	k := &s.control
	if !k.staged {
		return nil
	}
	k.staged = false
	defer unset(k.inputs)
	if s.server.rig.Mode() == hal.Realtime {
		return s.rig.Step(s.lease, k.inputs)
	}
	for i := range k.layout.Actuators {
		goals := &k.layout.Actuators[i].Goal
		for mode, at := range goals {
			if at == hal.None || math.IsNaN(k.inputs[at]) {
				continue
			}
			for other, old := range goals {
				if old != hal.None && other != mode {
					s.held[old] = math.NaN()
				}
			}
			s.held[at] = k.inputs[at]
		}
	}
	return nil
}

// now is what the robot measured last. It is the reader's until the next call.
func (s *session) now() *sample {
	return s.sample(&s.measured, &s.status)
}

// sample takes the measured values; those of a sensor at fault are not known.
func (s *session) sample(measured *[]float64, status *[]hal.Status) *sample {
	a := s.server.robot.Agent
	*measured, *status = a.Measured(*measured), a.Status(*status)
	l := a.Layout()
	for i := range l.Sensors {
		if sensor := &l.Sensors[i]; (*status)[len(l.Actuators)+i].Err != nil {
			unset((*measured)[sensor.First : sensor.First+sensor.Count])
		}
	}
	var newest time.Duration
	for i := range *status {
		newest = max(newest, (*status)[i].Time)
	}
	return &sample{time: newest, measured: *measured}
}

// write publishes what is due and sends what waits.
func (s *session) write(ctx context.Context) {
	out := make([]byte, bannerSize)
	copy(out, banner)
	var measured []float64
	var status []hal.Status
	for {
		if s.due.Swap(false) && s.queue.room() {
			now := s.sample(&measured, &status)
			for _, e := range s.opened() {
				e.unit.publish(now, func(subtype uint8, p payload) { s.publish(e.device, subtype, now.time, p) })
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
	now := time.Now()
	s.writing.Store(now.UnixNano())
	defer s.writing.Store(0)
	s.conn.SetWriteDeadline(now.Add(s.server.options.WriteTimeout))
	_, err := s.conn.Write(b)
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
	return append([]entry(nil), s.open...)
}
