package policy

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// Client drives one agent by its policies, as every client does: by a lease, commands with a deadline, and the agent's
// guard. The value /AGENT/policy names the policy in use, "" for none; /AGENT/command/NAME is what it is commanded. It
// never arms: while the agent is not armed it sends nothing, and begins again afterwards.
type Client struct {
	rig     *hal.Rig
	agent   *hal.Agent
	drivers []*Driver
	timeout time.Duration // of what clients command; 0 = none
	log     *slog.Logger
	session *hal.Session

	wanted  atomic.Pointer[Driver] // nil = none
	changed chan struct{}
	lease   atomic.Pointer[hal.Lease]
	ticked  chan struct{} // of one element: the cycle that was asked for is over

	// under the rig's lock, or by the goroutine of Run between a tick and its next request
	now       time.Duration
	isReset   bool
	measured  []float64
	status    []hal.Status
	inputs    []float64
	commanded map[string]order
}

// order is what a client set a value of the command to.
type order struct {
	v  float64
	at time.Duration
}

// NewClient declares the values of the policies of an agent. start is the name of the first one in use, or "".
func NewClient(rig *hal.Rig, agent *hal.Agent, drivers []*Driver, start string, timeout time.Duration,
	log *slog.Logger) *Client {
	l := agent.Layout()
	c := &Client{rig: rig, agent: agent, drivers: drivers, timeout: timeout, log: log, changed: make(chan struct{}, 1),
		ticked: make(chan struct{}, 1), commanded: map[string]order{}}
	f := hal.NewFrame(l)
	c.measured, c.status, c.inputs = f.Measured, f.Status, f.Inputs
	v, prefix := rig.Values(), "/"+agent.Name()+"/"
	v.Declare(prefix+"policy", hal.StringValue, func() hal.Value {
		name := ""
		if d := c.wanted.Load(); d != nil {
			name = d.Name
		}
		return hal.Value{Kind: hal.StringValue, Text: name}
	}, func(v hal.Value) error { return c.use(v.Text) })
	for _, d := range drivers {
		for i := range d.Config.Commands {
			own := d.Config.Commands[i]
			v.Declare(prefix+"command/"+own.Name, hal.DoubleValue, func() hal.Value {
				return hal.Value{Kind: hal.DoubleValue, Double: c.commandOf(own.Name, own.Value)}
			}, func(v hal.Value) error {
				if !(v.Double >= own.Min && v.Double <= own.Max) {
					return fmt.Errorf("command/%s: got %g, want %g..%g", own.Name, v.Double, own.Min, own.Max)
				}
				c.commanded[own.Name] = order{v.Double, c.now}
				return nil
			})
		}
	}
	c.session = rig.NewSession("policy", c)
	if err := c.use(start); err != nil {
		log.Error("policy not in use", "agent", agent.Name(), "fault", err)
	}
	return c
}

// commandOf is what a value is commanded now: what a client set in time, or otherwise.
func (c *Client) commandOf(name string, otherwise float64) float64 {
	o, set := c.commanded[name]
	if !set || c.timeout > 0 && c.now-o.at > c.timeout {
		return otherwise
	}
	return o.v
}

// use selects the policy called name.
func (c *Client) use(name string) error {
	var d *Driver
	if name != "" {
		at := slices.IndexFunc(c.drivers, func(d *Driver) bool { return d.Name == name })
		if at < 0 {
			return fmt.Errorf("policy: got %.60q, want a policy of agent %s", name, c.agent.Name())
		}
		d = c.drivers[at]
	}
	c.wanted.Store(d)
	select {
	case c.changed <- struct{}{}:
	default:
	}
	return nil
}

// Cycle implements hal.Observer: it keeps what the cycle measured.
func (c *Client) Cycle(cy *hal.Cycle) {
	l := c.lease.Load()
	if l == nil {
		return
	}
	if l.Agent() != nil {
		f := l.Frame()
		if c.isReset = c.isReset || cy.Reset; !l.Stepped() {
			return
		}
		c.now = f.Time
		copy(c.measured, f.Measured)
		copy(c.status, f.Status)
	}
	select {
	case c.ticked <- struct{}{}:
	default:
	}
}

// Run drives the agent until ctx ends.
func (c *Client) Run(ctx context.Context) {
	defer c.session.Close()
	for ctx.Err() == nil {
		if c.wanted.Load() == nil {
			select {
			case <-c.changed:
			case <-ctx.Done():
			}
			continue
		}
		lease, err := c.session.Acquire(c.agent)
		if err == nil {
			c.lease.Store(lease)
			err = c.drive(ctx, lease)
			c.lease.Store(nil)
			c.session.Release(lease)
		}
		if err != nil && ctx.Err() == nil {
			c.wanted.Store(nil)
			c.log.Error("policy ended", "agent", c.agent.Name(), "fault", err)
		}
	}
}

var errLost = errors.New("the lease is lost")

// drive steps the policy in use until there is none.
func (c *Client) drive(ctx context.Context, lease *hal.Lease) error {
	var d *Driver
	silent := "" // why there was no command
	for n := 0; ; n++ {
		next := c.wanted.Load()
		if next == nil {
			return nil
		}
		fresh := next != d
		var reset bool
		c.rig.BetweenCycles(func() {
			for i, v := range next.Config.Commands {
				next.Command(i, c.commandOf(v.Name, v.Value))
			}
			reset, c.isReset = c.isReset, false
		})
		state, _, _ := c.agent.Guard()
		if d = next; fresh || reset || state != hal.Armed {
			d.Reset()
			n = 0
		}
		var inputs []float64
		if state == hal.Armed && n > 0 && (n-1)%d.every == 0 { // what is measured is known after the first cycle
			err := d.Act(c.measured, c.status, c.inputs)
			if inputs = c.inputs; err != nil {
				inputs = nil
			}
			if text := textOf(err); text != silent {
				if silent = text; err != nil {
					c.log.Warn("policy sends nothing", "agent", c.agent.Name(), "fault", err)
				}
			}
		}
		if err := c.session.Step(lease, inputs); err != nil {
			return err
		}
		select {
		case <-c.ticked:
		case <-ctx.Done():
			return nil
		}
		if c.lost(lease) {
			return errLost
		}
	}
}

func (c *Client) lost(l *hal.Lease) (lost bool) {
	c.rig.BetweenCycles(func() { lost = l.Agent() == nil })
	return lost
}

func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
