package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/hal"
)

// A running rig listens on a Unix socket in the user's runtime folder, named after the rig. A request is one word on a
// line; the answer is one JSON line.

const controlPatience = 3 * time.Second // a stop waits for the buses; more than this is no answer

// order is what a person may tell a running rig.
type order string

const (
	orderStop   order = "estop"
	orderReset  order = "reset"
	orderArm    order = "arm"
	orderStatus order = "status"
)

// answer is what the rig says to an order.
type answer struct {
	Error  string        `json:"error,omitempty"`
	Kind   hal.Kind      `json:"kind,omitempty"`
	Try    string        `json:"try,omitempty"`
	Joints []jointStatus `json:"joints"`
	Rig    rigStatus     `json:"rig"`
}

type rigStatus struct {
	Name    string `json:"name"`
	Clock   string `json:"clock"`
	Stopped bool   `json:"stopped"` // the emergency stop is latched
	Ticks   uint64 `json:"ticks"`
	Missed  uint64 `json:"missed"`
	P99us   number `json:"late_p99_us"`
	Faults  uint64 `json:"faults"`
	Message string `json:"last_fault,omitempty"`
}

type jointStatus struct {
	Agent    string `json:"agent"`
	Joint    string `json:"joint"`
	State    string `json:"state"`
	Holder   string `json:"holder,omitempty"`
	Position number `json:"pos_rad"`
	Acked    *bool  `json:"acknowledged,omitempty"` // of an emergency stop
	Fault    string `json:"fault,omitempty"`
}

func (jointStatus) header() []string {
	return []string{"agent", "joint", "state", "held by", "pos rad", "acknowledged", "fault"}
}

func (j jointStatus) cells() []string {
	acked := "-"
	if j.Acked != nil {
		acked = map[bool]string{true: "yes", false: "NO"}[*j.Acked]
	}
	return []string{j.Agent, j.Joint, j.State, cmp.Or(j.Holder, "-"), j.Position.String(), acked, cmp.Or(j.Fault, "-")}
}

// controlSocket is where the rig called name listens.
func controlSocket(name string) string {
	dir := os.Getenv("XDG_RUNTIME_DIR")
	if dir == "" {
		dir = filepath.Join(os.TempDir(), fmt.Sprintf("halyard-%d", os.Getuid()))
	} else {
		dir = filepath.Join(dir, "halyard")
	}
	return filepath.Join(dir, filepath.Base(name)+".sock")
}

// control answers orders for a rig until it is closed.
type control struct {
	rig      *hal.Rig
	listener net.Listener
	sessions sync.WaitGroup
}

// openControl starts to listen. A socket left by a rig that died is taken over; one that answers is Busy.
func openControl(r *hal.Rig) (*control, error) {
	path := controlSocket(r.Name())
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, &hal.Error{Kind: hal.Busy, Op: "control socket", Err: err}
	}
	if info, err := os.Stat(filepath.Dir(path)); err != nil || info.Mode().Perm()&0o077 != 0 {
		return nil, &hal.Error{Kind: hal.Unsafe, Op: "control socket",
			Err: fmt.Errorf("%s: others may write there, want mode 0700", filepath.Dir(path))}
	}
	if c, err := net.DialTimeout("unix", path, controlPatience); err == nil {
		c.Close()
		return nil, &hal.Error{Kind: hal.Busy, Op: "start " + r.Name(),
			Err: fmt.Errorf("a rig of that name is running"), Try: "halyard status " + r.Name()}
	}
	os.Remove(path)
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, &hal.Error{Kind: hal.Busy, Op: "control socket", Err: err}
	}
	c := &control{rig: r, listener: l}
	c.sessions.Go(c.serve)
	return c, nil
}

func (c *control) serve() {
	for {
		conn, err := c.listener.Accept()
		if err != nil {
			return
		}
		c.sessions.Go(func() {
			defer conn.Close()
			conn.SetDeadline(time.Now().Add(controlPatience))
			line, err := bufio.NewReaderSize(io.LimitReader(conn, 64), 64).ReadString('\n')
			if err != nil {
				return
			}
			json.NewEncoder(conn).Encode(c.obey(order(line[:len(line)-1])))
		})
	}
}

// close stops listening and waits for the orders under way.
func (c *control) close() {
	c.listener.Close()
	c.sessions.Wait()
}

func (c *control) obey(o order) answer {
	var stops []hal.JointStop
	var err error
	switch o {
	case orderStop:
		stops = c.rig.EmergencyStop("asked on the control socket")
	case orderReset:
		err = c.rig.Recover()
	case orderArm:
		if c.rig.Latched() { // a robot that is spawned later would be stopped all the same
			err = &hal.Error{Kind: hal.Unsafe, Op: "arm " + c.rig.Name(), Err: errors.New("the emergency stop is latched"), Try: "halyard reset"}
			break
		}
		err = c.rig.Arm()
	case orderStatus:
	default:
		err = &hal.Error{Kind: hal.Invalid, Op: "order", Err: fmt.Errorf("got %q, want estop, reset, arm or status", o)}
	}
	ans := answer{Joints: jointsOf(c.rig, stops)}
	if err != nil {
		ans.Error, ans.Kind = err.Error(), hal.KindOf(err)
	}
	var s hal.Stats
	c.rig.Stats(&s)
	ans.Rig = rigStatus{Name: c.rig.Name(), Clock: c.rig.Mode().String(), Stopped: c.rig.Latched(), Ticks: s.Ticks, Missed: s.Missed,
		P99us: number(s.Late.Quantile(0.99).Seconds() * 1e6), Faults: s.Faults, Message: s.LastFault}
	return ans
}

// jointsOf lists every joint as it is, with what it said to an emergency stop.
func jointsOf(r *hal.Rig, stops []hal.JointStop) []jointStatus {
	list := []jointStatus{}
	for _, a := range r.Agents() {
		measured, status := a.Measured(nil), a.Status(nil)
		for i := range a.Layout().Actuators {
			act := &a.Layout().Actuators[i]
			j := jointStatus{Agent: a.Name(), Joint: act.Name, State: a.JointState(i).String(), Holder: a.Holder()}
			if act.Position != hal.None {
				j.Position = number(measured[act.Position])
			}
			if status[i].Err != nil {
				j.Fault = status[i].Err.Error()
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

// sendOrder sends an order to the rig called name; without a name to the only one that runs.
func sendOrder(ctx context.Context, name string, o order) (*answer, error) {
	if name == "" {
		running := runningRigs()
		if len(running) > 1 {
			return nil, &hal.Error{Kind: hal.Invalid, Op: string(o), Err: fmt.Errorf("%d rigs are running, name one: %s", len(running), strings.Join(running, ", ")),
				Try: fmt.Sprintf("halyard %s %s", o, running[0])}
		}
		if len(running) == 0 {
			return nil, &hal.Error{Kind: hal.Absent, Op: "find the rig", Err: errors.New("none is running"), Try: "halyard serve"}
		}
		name = running[0]
	}
	path := controlSocket(name)
	var d net.Dialer
	ctx, cancel := context.WithTimeout(ctx, controlPatience)
	defer cancel()
	conn, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		return nil, &hal.Error{Kind: hal.Absent, Op: string(o), Err: fmt.Errorf("no rig called %q is running", name), Try: "halyard serve"}
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(controlPatience))
	fmt.Fprintln(conn, o)
	var ans answer
	if err := json.NewDecoder(io.LimitReader(conn, 1<<20)).Decode(&ans); err != nil {
		return nil, &hal.Error{Kind: hal.Timeout, Op: string(o), Err: fmt.Errorf("no answer: %w: cut the power", err)}
	}
	if ans.Error != "" {
		return &ans, &hal.Error{Kind: ans.Kind, Err: errors.New(ans.Error)}
	}
	return &ans, nil
}

// stopAll sends the emergency stop to every rig that runs, at once: who wants all to stand still has no time to name one.
// What one of them does not say is an error; the joints are those of all that answered.
func stopAll(ctx context.Context) (*answer, error) {
	running := runningRigs()
	if len(running) <= 1 {
		return sendOrder(ctx, "", orderStop)
	}
	answers, errs := make([]*answer, len(running)), make([]error, len(running))
	var all sync.WaitGroup
	for i, name := range running {
		all.Go(func() { answers[i], errs[i] = sendOrder(ctx, name, orderStop) })
	}
	all.Wait()
	whole := &answer{Rig: rigStatus{Name: strings.Join(running, ", ")}}
	for _, a := range answers {
		if a != nil {
			whole.Joints = append(whole.Joints, a.Joints...)
		}
	}
	return whole, errors.Join(errs...)
}

// runningRigs are the names of the rigs that run.
func runningRigs() (names []string) {
	all, _ := filepath.Glob(controlSocket("*"))
	for _, path := range all {
		if c, err := net.DialTimeout("unix", path, controlPatience); err == nil {
			c.Close()
			names = append(names, strings.TrimSuffix(filepath.Base(path), ".sock"))
		}
	}
	return names
}

// newOrder makes the sub-command that sends o.
func newOrder(a *app, o order, short string) *cobra.Command {
	return &cobra.Command{
		Use:   string(o) + " [RIG]",
		Short: short,
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := ""
			if len(args) > 0 {
				name = args[0]
			}
			var ans *answer
			var err error
			if o == orderStop && name == "" {
				ans, err = stopAll(cmd.Context())
			} else {
				ans, err = sendOrder(cmd.Context(), name, o)
			}
			if ans == nil {
				return err
			}
			if o == orderStatus || o == orderStop {
				if e := show(a, ans.Joints); e != nil {
					return e
				}
			}
			if o == orderStop {
				err = errors.Join(err, unacknowledged(ans.Joints))
			}
			if err == nil {
				latched := ""
				if ans.Rig.Stopped {
					latched = ", STOPPED: halyard reset, then halyard arm"
				}
				a.note("%s: %s", ans.Rig.Name, map[order]string{
					orderStop:   "stopped, latched. Next: halyard reset, then halyard arm",
					orderReset:  recovered(ans.Joints),
					orderArm:    "armed: commands move it",
					orderStatus: fmt.Sprintf("%s, %d ticks, %d missed, %d faults%s", ans.Rig.Clock, ans.Rig.Ticks, ans.Rig.Missed, ans.Rig.Faults, latched),
				}[o])
			}
			return err
		},
	}
}

// recovered says what a reset has left to do.
func recovered(joints []jointStatus) string {
	n := 0
	for _, j := range joints {
		if j.State == hal.Disarmed.String() {
			n++
		}
	}
	if n == 0 {
		return "nothing was latched, nothing has changed"
	}
	return fmt.Sprintf("cleared, %d of %d joints are disarmed. Next: halyard arm", n, len(joints))
}

// unacknowledged is an error where a joint did not confirm a stop.
func unacknowledged(joints []jointStatus) error {
	n := 0
	for _, j := range joints {
		if j.Acked != nil && !*j.Acked {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return &hal.Error{Kind: hal.BusFault, Op: "estop", Err: fmt.Errorf("NOT CONFIRMED by %d joints: cut the power", n)}
}
