package bodies

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"time"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/protocols/batch"
	"github.com/halyard-robotics/halyard/protocols/odcp"
	"github.com/halyard-robotics/halyard/protocols/osp"
	"github.com/halyard-robotics/halyard/protocols/simloid"
)

// Seen is what a client sees after a step: a value a joint, NaN where the door does not show it.
type Seen struct {
	Position, Torque []float64
	Told             []string // what the door has told since the last step: events, errors, states
}

// client is a client of a door, as a controller is: it knows the robot by the door alone.
type client interface {
	// step commands a goal a joint, rad, and waits for what the door shows next.
	step(goals []float64, seen *Seen) error
	// reset resets the robot and waits until that is over.
	reset(seen *Seen) error
	close() error
}

// Door is a way to a robot.
type Door struct {
	Name    string
	server  string // of the config; "" = none
	torque  bool   // it shows torques
	resets  bool
	wall    bool // its client does not ask for the cycle: it goes by the wall clock in lock-step too
	connect func(s *stage, address string) (client, error)
}

// Doors are the doors of the bench.
func Doors() []Door {
	return []Door{
		{Name: "program", torque: true, connect: newProgram},
		{Name: "osp", server: "protocol: osp", torque: true, resets: true, connect: newOSP},
		{Name: "odcp", server: "protocol: odcp", wall: true, connect: newODCP},
		{Name: "simloid", server: "protocol: simloid, noise: false", resets: true, connect: newSimloid},
		{Name: "batch", server: "protocol: batch", torque: true, resets: true, connect: newBatch},
		{Name: "rosbridge", server: "protocol: rosbridge", torque: true, wall: true, connect: newRosbridge},
		{Name: "foxglove", server: "protocol: foxglove", torque: true, wall: true, connect: newFoxglove},
	}
}

// stage is an open robot and what the bench sees beside the client.
type stage struct {
	sys     *halyard.System
	agent   *halyard.Agent
	layout  *hal.Layout
	ctx     context.Context
	ticks   chan struct{}
	live    bool // Run runs
	real    bool
	stats   hal.Stats
	address string
}

// tick waits for the next cycle that ends.
func (s *stage) tick() error {
	select {
	case <-s.ticks:
	default:
	}
	select {
	case <-s.ticks:
		return nil
	case <-s.ctx.Done():
		return s.ctx.Err()
	case <-time.After(patience):
		return errors.New("no cycle has passed")
	}
}

// patience is how long a step may take on a busy machine.
const patience = 30 * time.Second

// program is the Go API.
type program struct{ *stage }

func newProgram(s *stage, _ string) (client, error) { return &program{s}, nil }

func (p *program) step(goals []float64, seen *Seen) error {
	for i, g := range goals {
		if err := p.agent.Command(joints[i], halyard.Position(g)); err != nil {
			seen.Told = append(seen.Told, err.Error())
		}
	}
	if !p.live {
		if err := p.sys.Step(); err != nil {
			return err
		}
	} else if err := p.tick(); err != nil {
		return err
	}
	p.look(seen)
	return nil
}

func (p *program) look(seen *Seen) {
	for i, j := range joints {
		s := p.agent.State(j)
		seen.Position[i], seen.Torque[i] = s.Position, s.Torque
		if s.Guard != hal.Armed {
			seen.Told = append(seen.Told, fmt.Sprint(j, " ", s.Guard))
		}
	}
}

func (p *program) reset(*Seen) error { return errNoReset }

func (p *program) close() error { p.agent.Release(); return nil }

// ospClient speaks OSP.
type ospClient struct {
	*osp.Client
	stage  *stage
	id     int32
	inputs []float32
	events map[int32]string
	info   *osp.AgentDescription
}

func newOSP(s *stage, address string) (client, error) {
	c, err := osp.Dial(address, osp.ClientOptions{})
	if err != nil {
		return nil, err
	}
	list, err := c.Overview()
	if err != nil || len(list) != 1 {
		return nil, errors.Join(err, fmt.Errorf("osp: got agents %v, want one agent", list), c.Close())
	}
	o := &ospClient{Client: c, stage: s, id: list[0].ID, events: map[int32]string{}}
	for _, name := range []string{"Armed", "Disarmed", "Stopped", "Expired"} {
		id, err := c.RegisterEvent("/arm/" + name)
		if err != nil {
			return nil, errors.Join(err, c.Close())
		}
		o.events[id] = name
	}
	o.inputs = make([]float32, len(s.layout.Inputs))
	if o.info, err = c.AgentInfo(o.id); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return o, c.Register(o.id)
}

func (o *ospClient) step(goals []float64, seen *Seen) error {
	for i := range o.inputs {
		o.inputs[i] = float32(math.NaN())
	}
	for i, g := range goals {
		at := o.stage.layout.Actuators[i].Goal[hal.PositionMode]
		to := o.info.Inputs[at]
		o.inputs[at] = to.Min + float32(o.stage.layout.Inputs[at].Fraction(g))*(to.Max-to.Min)
	}
	r, err := o.Step(o.id, o.inputs)
	if err != nil {
		return err
	}
	o.look(r, seen)
	return nil
}

func (o *ospClient) look(r *osp.Result, seen *Seen) {
	l := o.stage.layout
	at := func(measured int) float64 {
		if measured == hal.None {
			return math.NaN()
		}
		from, list, channels := o.info.Outputs, r.Outputs, l.Outputs
		if n := len(list); measured >= n {
			from, list, channels, measured = o.info.Infos, r.Infos, l.Infos, measured-n
		}
		t := from[measured]
		return channels[measured].FromFraction(float64((list[measured] - t.Min) / (t.Max - t.Min)))
	}
	for i := range joints {
		a := &l.Actuators[i]
		seen.Position[i], seen.Torque[i] = at(a.Position), at(a.Torque)
	}
	for _, id := range r.Events {
		seen.Told = append(seen.Told, o.events[id])
	}
}

// reset shows the state of the next step: the protocol's answer to a reset has none.
func (o *ospClient) reset(seen *Seen) error {
	if err := o.Reset(1); err != nil {
		return err
	}
	r, err := o.Step(o.id, nil)
	if err != nil {
		return err
	}
	o.look(r, seen)
	return nil
}

func (o *ospClient) close() error { return o.Close() }

// odcpClient speaks ODCP.
type odcpClient struct {
	*odcp.Client
	stage *stage
}

func newODCP(s *stage, address string) (client, error) {
	c, err := odcp.Open(address, odcp.ClientOptions{})
	return &odcpClient{c, s}, err
}

func (o *odcpClient) step(goals []float64, seen *Seen) error {
	angles := make([]int32, len(goals))
	channel := func(i int) *hal.Channel {
		return &o.stage.layout.Inputs[o.stage.layout.Actuators[i].Goal[hal.PositionMode]]
	}
	for i, g := range goals {
		angles[i] = int32(math.Round(1023 * channel(i).Fraction(g)))
	}
	if err := o.Set(angles, nil); err != nil {
		return err
	}
	if err := o.stage.tick(); err != nil {
		return err
	}
	got, err := o.Get()
	if err != nil {
		return err
	}
	for i, v := range got {
		seen.Position[i] = channel(i).FromFraction(float64(v) / 1023)
		if v < 0 {
			seen.Position[i] = math.NaN()
		}
	}
	return nil
}

func (o *odcpClient) reset(*Seen) error { return errNoReset }
func (o *odcpClient) close() error      { return o.Close() }

var errNoReset = errors.New("this door has no reset")

// simloidClient speaks Simloid.
type simloidClient struct{ *simloid.Client }

func newSimloid(_ *stage, address string) (client, error) {
	c, err := simloid.Dial(address, simloid.ClientOptions{})
	return &simloidClient{c}, err
}

func (c *simloidClient) step(goals []float64, seen *Seen) error {
	v := make([]float64, len(goals))
	for i, g := range goals {
		v[i] = g / math.Pi
	}
	return c.cycle(seen, simloid.Command{Verb: simloid.PX, Values: v})
}

func (c *simloidClient) cycle(seen *Seen, command simloid.Command) error {
	s, err := c.Cycle(command)
	if err != nil {
		return err
	}
	for i, p := range s.Position {
		seen.Position[i] = p * math.Pi
	}
	return nil
}

func (c *simloidClient) reset(seen *Seen) error {
	return c.cycle(seen, simloid.Command{Verb: simloid.Reset})
}
func (c *simloidClient) close() error { return c.Close() }

// batchClient speaks batch, with the served rig itself as its one copy.
type batchClient struct {
	*batch.Client
	observed []float64
}

func newBatch(_ *stage, address string) (client, error) {
	conn, err := net.DialTimeout("tcp", address, patience)
	if err != nil {
		return nil, err
	}
	h := &batch.Hello{Target: batch.Itself, Copies: 1}
	for _, j := range joints {
		h.Actions = append(h.Actions, j+"/position")
		h.Observations = append(h.Observations, j+"/position", j+"/torque")
	}
	c, err := batch.NewClient(conn, h)
	if err != nil {
		return nil, err
	}
	return &batchClient{c, make([]float64, len(h.Observations))}, nil
}

func (b *batchClient) step(goals []float64, seen *Seen) error {
	return b.look(b.Step(goals, b.observed), seen)
}

func (b *batchClient) look(err error, seen *Seen) error {
	if hal.KindOf(err) == hal.Unsafe {
		seen.Told, err = append(seen.Told, err.Error()), nil
	}
	for i := range joints {
		seen.Position[i], seen.Torque[i] = b.observed[2*i], b.observed[2*i+1]
	}
	return err
}

func (b *batchClient) reset(seen *Seen) error {
	return b.look(b.Reset(nil, nil, b.observed), seen)
}

func (b *batchClient) close() error { return b.Close() }
