package control

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/protocols"
)

// A running rig listens on a Unix socket in the user's runtime folder, named after the rig. A request is one word on a
// line; the answer is one JSON line.

const ControlTimeout = 3 * time.Second // a stop waits for the buses; more than this is no answer

// Order is an operator's command to a running rig.
type Order string

const (
	OrderStop   Order = "estop"
	OrderReset  Order = "reset"
	OrderArm    Order = "arm"
	OrderDisarm Order = "disarm"
	OrderStatus Order = "status"
	OrderTwin   Order = "twin"   // why joints differ from their simulated twins
	OrderFiles  Order = "files"  // those that a recording would have attached
	OrderRecord Order = "record" // the answer is followed by an MCAP file, until the client sends no more

	// The order is followed by a line with a manual.Request; the answers are lines with a manual.Update, each of which
	// the client acknowledges by a byte. One that is silent for beatTimeout ends it: the joints hold.
	OrderOperate Order = "operate"

	// The order is followed by a line with the name of a value of the rig, and the text that sets it or none.
	OrderSet Order = "set"
)

// Answer is the rig's answer to an order.
type Answer struct {
	Error  string        `json:"error,omitempty"`
	Kind   hal.Kind      `json:"kind,omitempty"`
	Try    string        `json:"try,omitempty"`
	Joints []JointStatus `json:"joints"`
	Buses  []BusStatus   `json:"buses,omitempty"` // of status
	Rig    RigStatus     `json:"rig"`

	Twin  json.RawMessage `json:"twin,omitempty"` // of twin: a list of joints
	Files []string        `json:"files,omitempty"`
	Value string          `json:"value,omitempty"` // of set
}

// ControlSocket is where the rig called name listens.
func ControlSocket(name string) string { return filepath.Join(Folder(), filepath.Base(name)+".sock") }

// Control answers orders for a rig until it is closed.
type Control struct {
	Rig      *hal.Rig
	hooks    Hooks
	ended    chan struct{} // closed by Close
	listener net.Listener
	sessions sync.WaitGroup
	orders   chan struct{} // under way, but for stops
	stops    chan struct{}
}

// Hooks are functions of a control beyond its rig; nil if not supported.
type Hooks struct {
	Record func(w io.Writer) (stop func() error, err error) // records the rig into w until stop is called
	Buses  func() []BusStatus
	Files  func() ([]string, error)
	Twin   func() any // a list of joints with why they differ from their twins; nil where none has one
}

// maxOrders bounds the orders under way: each waits for the rig once. Stops have as many places of their own, so that
// one is executed where the rig hangs and all others wait for it. maxConns bounds the connections.
const (
	maxOrders = 32
	maxConns  = 256
)

var errOrders = &hal.Error{Kind: hal.Busy, Op: "order",
	Err: errors.New("as many orders as there may be are waiting for the rig")}

// OpenControl starts to listen. It replaces the socket of a dead rig; a socket that answers is an error of kind Busy. A
// folder that other users can access is refused, of kind Unsafe.
func OpenControl(r *hal.Rig, hooks Hooks) (*Control, error) {
	path := ControlSocket(r.Name())
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, &hal.Error{Kind: hal.Busy, Op: "control socket", Err: err}
	}
	if err := CheckFolder(filepath.Dir(path)); err != nil {
		return nil, err
	}
	if c, err := net.DialTimeout("unix", path, ControlTimeout); err == nil {
		c.Close()
		return nil, &hal.Error{Kind: hal.Busy, Op: "start " + r.Name(),
			Err: fmt.Errorf("a rig of that name is running"), Try: "halyard status " + r.Name()}
	}
	os.Remove(path)
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, &hal.Error{Kind: hal.Busy, Op: "control socket", Err: err}
	}
	c := &Control{Rig: r, hooks: hooks, ended: make(chan struct{}), orders: make(chan struct{}, maxOrders),
		stops: make(chan struct{}, maxOrders)}
	c.listener = protocols.Bound(l, protocols.Limits{Connections: maxConns})
	c.sessions.Go(c.serve)
	return c, nil
}

// serve accepts orders until the listener is closed. It continues after every other error: without it the rig could not
// be stopped.
func (c *Control) serve() {
	defer c.Rig.Contain("control socket")
	for {
		conn, err := c.listener.Accept()
		switch {
		case err == nil:
			c.sessions.Go(func() {
				defer c.Rig.Contain("control socket")
				c.answer(conn)
			})
		case errors.Is(err, net.ErrClosed):
			return
		default:
			time.Sleep(acceptPause)
		}
	}
}

// acceptPause is how long it waits after an error before it accepts again.
const acceptPause = 10 * time.Millisecond

// answer executes one order.
func (c *Control) answer(conn net.Conn) {
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(ControlTimeout))
	in := bufio.NewReaderSize(conn, 64)
	line, err := in.ReadSlice('\n') // of at most as many bytes
	if err != nil {
		return
	}
	if !protocols.Recognize(conn) {
		return
	}
	order := Order(line[:len(line)-1])
	places := c.orders
	if order == OrderStop {
		places = c.stops
	}
	select {
	case places <- struct{}{}:
		defer func() { <-places }()
	default:
		json.NewEncoder(conn).Encode(Answer{Error: errOrders.Error(), Kind: errOrders.Kind, Joints: []JointStatus{}})
		return
	}
	if order == OrderRecord && c.hooks.Record != nil {
		c.stream(conn)
		return
	}
	if order == OrderOperate {
		c.operate(conn, in)
		return
	}
	if order == OrderSet {
		json.NewEncoder(conn).Encode(c.set(in))
		return
	}
	json.NewEncoder(conn).Encode(c.Execute(order))
}

// stream records the rig until the client closes its side, disconnects, or the rig ends.
func (c *Control) stream(conn net.Conn) {
	out := &answered{conn: conn, answer: func() Answer { return c.Execute(OrderStatus) }}
	stop, err := c.hooks.Record(out)
	if err != nil {
		json.NewEncoder(conn).Encode(Answer{Error: err.Error(), Kind: hal.KindOf(err), Joints: []JointStatus{}})
		return
	}
	conn.SetReadDeadline(time.Time{})
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		defer c.Rig.Contain("recording")
		io.Copy(io.Discard, conn)
	}()
	select {
	case <-gone:
	case <-c.ended:
	}
	stop() // the client detects an incomplete file
	conn.Close()
	<-gone
}

// answered is a connection whose first bytes are the answer to its order. A client that does not read for the timeout
// of orders loses the rest.
type answered struct {
	conn   net.Conn
	answer func() Answer
}

func (a *answered) Write(p []byte) (int, error) {
	a.conn.SetWriteDeadline(time.Now().Add(ControlTimeout))
	if answer := a.answer; answer != nil {
		a.answer = nil
		if err := json.NewEncoder(a.conn).Encode(answer()); err != nil {
			return 0, err
		}
	}
	return a.conn.Write(p)
}

// Close stops listening and waits for the orders under way.
func (c *Control) Close() {
	close(c.ended)
	c.listener.Close()
	c.sessions.Wait()
}

// Execute executes an order received on the socket.
func (c *Control) Execute(o Order) Answer {
	ans := Execute(c.Rig, o, "asked on the control socket")
	if o == OrderStatus && c.hooks.Buses != nil {
		ans.Buses = c.hooks.Buses()
	}
	if o == OrderFiles && c.hooks.Files != nil {
		var err error
		if ans.Files, err = c.hooks.Files(); err != nil {
			ans.Error, ans.Kind = err.Error(), hal.KindOf(err)
		}
	}
	if o == OrderTwin {
		var rows any
		if c.hooks.Twin != nil {
			rows = c.hooks.Twin()
		}
		err := error(&hal.Error{Kind: hal.Invalid, Op: "twin " + c.Rig.Name(),
			Err: errors.New("no robot of this rig has a twin"),
			Try: "shadow: true at an agent that is real or emulated, then halyard serve"})
		if rows != nil {
			ans.Twin, err = json.Marshal(rows)
		}
		if err != nil {
			ans.Error, ans.Kind = err.Error(), hal.KindOf(err)
		}
	}
	return ans
}

// Execute executes an operator's order to r. reason is the reason of a stop.
func Execute(r *hal.Rig, o Order, reason string) Answer {
	var stops []hal.JointStop
	var err error
	switch o {
	case OrderStop:
		stops = r.EmergencyStop(reason)
	case OrderReset:
		tick := time.NewTicker(armStep)
		err = recovered(r, tick.C)
		tick.Stop()
	case OrderArm:
		if r.Latched() { // a robot that is spawned later would be stopped all the same
			err = &hal.Error{Kind: hal.Unsafe, Op: "arm " + r.Name(), Err: errors.New("the emergency stop is latched"),
				Try: "halyard reset"}
			break
		}
		if err = r.Arm(); err == nil {
			tick := time.NewTicker(armStep)
			err = armed(r, tick.C)
			tick.Stop()
		}
	case OrderDisarm:
		r.Disarm()
	case OrderStatus, OrderTwin, OrderFiles:
	default:
		err = &hal.Error{Kind: hal.Invalid, Op: "order",
			Err: fmt.Errorf("got %q, want estop, reset, arm, disarm, status, twin, files, record, operate or set", o)}
	}
	ans := Answer{Joints: JointsOf(r, stops)}
	if err != nil {
		ans.Error, ans.Kind = err.Error(), hal.KindOf(err)
	}
	if o == OrderStop { // its answer waits for no cycle
		ans.Rig = RigStatus{Name: r.Name(), State: hal.Stopped.String(), Clock: r.Mode().String(), Stopped: true}
		return ans
	}
	var s hal.Stats
	r.Stats(&s)
	ans.Rig = RigStatus{Name: r.Name(), State: stateOf(r.Latched(), ans.Joints), Clock: r.Mode().String(),
		Stopped: r.Latched(), Cycles: s.Cycles,
		Ticks: s.Ticks, Missed: s.Missed, Behind: report.Number(s.Behind.Seconds()),
		P99us: report.Number(s.Late.Quantile(0.99).Seconds() * 1e6), Faults: s.Faults, Message: s.LastFault}
	return ans
}

// resetLooks is how often, armStep apart, a reset is tried while its cause clears by itself: the start of the next
// supervisor.
const resetLooks = 200

// recovered clears the emergency stop. It tries again at each tick while its cause is of kind hal.Busy.
func recovered(r *hal.Rig, tick <-chan time.Time) error {
	silent := map[[2]string]bool{}
	for _, j := range JointsOf(r, nil) {
		silent[[2]string{j.Agent, j.Joint}] = unheard(j.err)
	}
	err := cleared(r, tick)
	// A device that restarts to clear its alarm is back in a second; one that was silent before is not waited for.
	restarted, since := map[[2]string]bool{}, cyclesOf(r)
	for look := 1; look < restartLooks; look++ {
		// until two cycles have ended, what is known of it is from before
		waits := r.Mode() == hal.Realtime && cyclesOf(r) < since+2
		for _, j := range JointsOf(r, nil) {
			if key := [2]string{j.Agent, j.Joint}; unheard(j.err) && !silent[key] {
				restarted[key], waits = true, true
			}
		}
		if !waits {
			break
		}
		<-tick
	}
	for _, j := range JointsOf(r, nil) {
		if restarted[[2]string{j.Agent, j.Joint}] && j.err != nil {
			err = errors.Join(err, &hal.Error{Kind: hal.BusFault, Op: "reset",
				Err: fmt.Errorf("restarted, and not cleared: %w", j.err)})
		}
	}
	return err
}

func cyclesOf(r *hal.Rig) uint64 {
	var s hal.Stats
	r.Stats(&s)
	return s.Cycles
}

// restartLooks is how often, armStep apart, a reset looks for devices that restart: the answer must come within
// ControlTimeout.
const restartLooks = 220

// unheard reports whether err is that of a device that does not answer.
func unheard(err error) bool { return err != nil && hal.KindOf(err) == hal.Timeout }

// cleared clears the emergency stop and alarms.
func cleared(r *hal.Rig, tick <-chan time.Time) error {
	for look := 1; ; look++ {
		err := r.Recover()
		var cause *hal.Error
		if look == resetLooks || hal.KindOf(err) != hal.Unsafe || !errors.As(errors.Unwrap(err), &cause) ||
			cause.Kind != hal.Busy {
			return err
		}
		<-tick
	}
}

// The number and interval of checks after joints were armed: a joint that waited to be enabled is ready some cycles
// later.
const (
	armLooks = 50
	armStep  = 10 * time.Millisecond
)

// armed returns an error if joints cannot move although they are armed: no device answers, or it waits for a reset. It
// checks again at each tick.
func armed(r *hal.Rig, tick <-chan time.Time) error {
	for look := 1; ; look++ {
		joints, n, first := JointsOf(r, nil), 0, error(nil)
		for _, j := range joints {
			if j.State != hal.Faulty.String() {
				continue
			}
			if n++; first == nil {
				first = j.err
			}
		}
		switch {
		case n == 0:
			return nil
		case look == armLooks:
			return &hal.Error{Kind: hal.KindOf(first), Op: "arm " + r.Name(),
				Err: fmt.Errorf("%d of %d joints cannot move: %w", n, len(joints), first),
				Try: "halyard reset, then halyard arm; halyard doctor names what does not answer"}
		}
		<-tick
	}
}

// JointsOf lists the state of every joint, with its answer to an emergency stop.
func JointsOf(r *hal.Rig, stops []hal.JointStop) []JointStatus {
	list := []JointStatus{}
	for _, a := range r.Agents() {
		measured, status := a.Measured(nil), a.Status(nil)
		for i := range a.Layout().Actuators {
			act := &a.Layout().Actuators[i]
			j := JointStatus{Agent: a.Name(), Joint: act.Name, State: a.JointState(i).String(),
				Torque: a.HasTorque(i),
				Reason: a.Condition().Reason, Holder: a.Holder()}
			if a.Passive() && j.State == hal.Disarmed.String() {
				j.State = leaderState
			}
			if act.Position != hal.None {
				at := report.Number(measured[act.Position])
				if j.Angle = &at; act.Kind == hal.Slide {
					j.Angle, j.Length = nil, &at
				}
			}
			fault := a.JointFault(i)
			if fault == nil {
				fault = status[i].Err
			}
			if fault != nil {
				j.Fault, j.err = fault.Error(), fault
				// commands pass without an effect
				if j.State == hal.Armed.String() && !(fault == status[i].Err && status[i].Warns) {
					j.State = hal.Faulty.String()
				}
			}
			if n := len(list); n < len(stops) {
				ok := stops[n].Err == nil
				j.Acked = &ok
				if !ok {
					j.Fault = stops[n].Err.Error()
				}
			}
			list = append(list, j)
		}
	}
	return list
}
