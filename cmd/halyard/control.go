package main

import (
	"bufio"
	"cmp"
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
