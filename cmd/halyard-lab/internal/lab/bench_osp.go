package lab

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/bench"
	"github.com/halyard-robotics/halyard/internal/must"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/protocols"
	"github.com/halyard-robotics/halyard/protocols/osp"
	"github.com/halyard-robotics/halyard/sim"
	"github.com/halyard-robotics/halyard/sim/model"
)

// benchOSP measures steps a second over UDP sockets on the loopback interface: client, server, rig and physics in this
// process. A step is two round trips by the document: 80 and 81, then 85 and 86. So bound_per_s is half the rate of
// bare round trips of datagrams of the same length, between sockets of the same kind, measured in blocks that alternate
// with those of the steps. It is not a hard limit: the server sends 81 and 85 without waiting in between.
//
// The humanoid's steps take longer than datagrams: its bound is only the physics, stepped through the same poses in
// this goroutine.
//
// With two agents each client has bare sockets of its own, which run concurrently as the clients do. But a step waits
// for both clients, and a bare round trip does not.
func benchOSP(ctx context.Context, size bench.Size, emit func(bench.Result)) error {
	for _, c := range []struct {
		name    string
		agents  []string
		physics bool // is the bound
	}{
		{"1 agent", []string{"pendulum"}, false},
		{"humanoid", []string{"a-series"}, true},
		{"2 agents", []string{"pendulum", "pendulum"}, false},
	} {
		f, err := RunOSP(ctx, c.agents, c.physics, size.StepsOr(20_000))
		if err != nil {
			return fmt.Errorf("bench: osp: %s: %w", c.name, err)
		}
		emit(bench.Result{Bench: "osp", Case: c.name, Figures: f})
	}
	return nil
}

// RunOSP measures a rig of the named robots, each with a client of its own. The bound is that of bare round trips, or
// the physics of the first robot.
func RunOSP(ctx context.Context, robots []string, physics bool, steps int) (f bench.Figures, err error) {
	defer must.Catch(&err)
	r := must.Get(NewOSPRig(ctx, robots))
	defer func() { err = errors.Join(err, r.Close()) }()
	robot := must.Get(model.Load(robots[0]))
	alone := must.Get(NewStepper(robot, false))
	// A reset, like a step, must be requested by all clients.
	must.Be(r.each(func(c *ospClient) error { return c.Client.Reset(1) }))
	n := bench.PerBlock(steps)
	stepped := bench.BlockRate(n, func() error { return r.each(func(c *ospClient) error { return c.Steps(n) }) })
	bare := bench.BlockRate(n, func() error {
		return r.each(func(c *ospClient) error { return c.Bare.RoundTrips(2 * n) })
	})
	if physics {
		bare = func() (float64, error) {
			alone.Physics.Spent = 0
			err := bench.Repeat(n, alone.Step)
			return float64(n) / alone.Physics.Spent.Seconds(), err
		}
	}
	rates := must.Get(bench.Alternate(ctx, stepped, bare))
	rate, limit := rates[0], rates[1]
	return bench.Figures{{Name: "steps_per_s", Value: report.Number(rate)},
		{Name: "bound_per_s", Value: report.Number(limit)}, {Name: "ratio", Value: report.Number(rate / limit)}}, nil
}

// ospRig is a rig in lock-step under an OSP server, with a client for each agent.
type ospRig struct {
	Address string
	Clients []*ospClient
	running *bench.Background // the rig and the server
}

// ospClient steps one agent, and has a pair of bare sockets for its datagrams.
type ospClient struct {
	Client *osp.Client
	Agent  int32
	poses  [][]float32
	next   int
	Bare   *barePair
}

// NewOSPRig builds a scene of robots, a rig and a server around it as "halyard serve" does, and connects the clients.
func NewOSPRig(ctx context.Context, robots []string) (_ *ospRig, err error) {
	defer must.Catch(&err)
	rig := must.Get(hal.New(hal.Config{Name: "bench", Period: benchPeriod}))
	models := make([]*model.Robot, len(robots))
	for i, robot := range robots {
		models[i] = must.Get(model.Load(robot))
	}
	scene := sim.NewScene(sim.SceneConfig{Substep: sim.Need(models)}) // as a config's
	names := make([]string, len(robots))
	for i, robot := range robots {
		names[i] = fmt.Sprintf("%s%d", robot, i+1)
		body := must.Get(scene.Add(names[i], models[i], hal.Pose{}))
		must.Get(rig.Add(hal.AgentConfig{Name: names[i], Body: body, World: scene}))
	}
	conn := must.Get(protocols.ListenUDP(loopback()))
	server := osp.NewServer(rig, conn, osp.Options{})
	r := &ospRig{Address: server.Address().String()}
	r.running = bench.InBackground(ctx, rig.Run, server.Serve)
	for _, name := range names {
		c, err := newOSPClient(r.Address, name, rig.Agent(name).Layout())
		if err != nil {
			return nil, errors.Join(err, r.Close())
		}
		r.Clients = append(r.Clients, c)
	}
	return r, nil
}

// loopback is any free port of this machine's own.
func loopback() netip.AddrPort { return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), 0) }

// Close ends the clients, then the server and the rig, and waits for both.
func (r *ospRig) Close() error {
	var faults []error
	for _, c := range r.Clients {
		faults = append(faults, c.Bare.Close(), c.Client.Close())
	}
	return errors.Join(append(faults, r.running.Close())...)
}

// each calls f for every client, concurrently.
func (r *ospRig) each(f func(*ospClient) error) error {
	return bench.Concurrently(len(r.Clients), func(i int) error { return f(r.Clients[i]) })
}

// newOSPClient registers for agent, which has layout l. On an error nothing stays open.
func newOSPClient(address, agent string, l *hal.Layout) (c *ospClient, err error) {
	defer must.Catch(&err)
	client := must.Get(osp.Dial(address, osp.ClientOptions{}))
	defer func() {
		if err != nil {
			err = errors.Join(err, client.Close())
		}
	}()
	list := must.Get(client.Overview())
	at := slices.IndexFunc(list, func(e osp.AgentEntry) bool { return e.Name == agent })
	if at < 0 {
		return nil, fmt.Errorf("agent %q: got %v", agent, list)
	}
	c = &ospClient{Client: client, Agent: list[at].ID}
	info := must.Get(client.AgentInfo(c.Agent))
	for _, pose := range benchPoses(l) {
		p := make([]float32, len(pose))
		for i, v := range pose {
			t := info.Inputs[i] // the scale of the wire; NaN, no command, stays NaN
			p[i] = t.Min + float32(l.Inputs[i].Fraction(v))*(t.Max-t.Min)
		}
		c.poses = append(c.poses, p)
	}
	must.Be(client.Register(c.Agent))
	c.Bare, err = newBarePair(stepLengths(l))
	return c, err
}

// Steps makes n steps, each with other inputs than the one before.
func (c *ospClient) Steps(n int) error {
	return bench.Repeat(n, func() error {
		c.next = (c.next + 1) % len(c.poses)
		_, err := c.Client.Step(c.Agent, c.poses[c.next])
		return err
	})
}

// stepLengths are the bytes of 80, 81, 85 and 86 for an agent of layout l: as the client and the server send them,
// with a number, without events and observed values.
func stepLengths(l *hal.Layout) (n [4]int) {
	for i, d := range []osp.Datagram{
		{Command: osp.NextStep, Inputs: make([]float32, len(l.Inputs)), Numbered: true},
		{Command: osp.NextStepAck, Numbered: true},
		{Command: osp.StepCompleted, Outputs: make([]float32, len(l.Outputs)), Infos: make([]float32, len(l.Infos)),
			Numbered: true},
		{Command: osp.StepCompletedAck},
	} {
		n[i] = len(osp.Append(nil, &d))
	}
	return n
}

// barePair is two sockets of which one only answers the other. Its requests are those of the client, 80 and 86 in turn,
// and the answers are as long as 81 and 85.
type barePair struct {
	Lengths        [4]int
	client, server protocols.PacketConn
	in, out        []byte
	answering      sync.WaitGroup
}

// barePatience is the timeout of a block of round trips: a lost datagram ends the benchmark.
const barePatience = time.Minute

func newBarePair(lengths [4]int) (*barePair, error) {
	server, err := protocols.ListenUDP(loopback())
	if err != nil {
		return nil, err
	}
	client, err := protocols.ListenUDP(loopback())
	if err != nil {
		return nil, errors.Join(err, server.Close())
	}
	b := &barePair{Lengths: lengths, client: client, server: server,
		in: make([]byte, osp.MaxDatagram), out: make([]byte, osp.MaxDatagram)}
	b.answering.Go(b.answer)
	return b, nil
}

// answer runs until the socket is closed.
func (b *barePair) answer() {
	in, out := make([]byte, osp.MaxDatagram), make([]byte, osp.MaxDatagram)
	for {
		_, from, err := b.server.ReadFromUDPAddrPort(in)
		if err != nil {
			return
		}
		n := b.Lengths[1]
		if osp.Command(in[0]) == osp.StepCompletedAck {
			n = b.Lengths[2]
		}
		if _, err := b.server.WriteToUDPAddrPort(out[:n], from); err != nil {
			return
		}
	}
}

// RoundTrips makes n round trips, of either kind in turn.
func (b *barePair) RoundTrips(n int) error {
	to := protocols.Address(b.server)
	// One deadline for all: moving it costs as much as a datagram, and the client under test moves its own rarely, too.
	b.client.SetReadDeadline(time.Now().Add(barePatience))
	for k := range n {
		command, length := osp.NextStep, b.Lengths[0]
		if k%2 == 1 {
			command, length = osp.StepCompletedAck, b.Lengths[3]
		}
		b.out[0] = byte(command)
		if _, err := b.client.WriteToUDPAddrPort(b.out[:length], to); err != nil {
			return err
		}
		if _, _, err := b.client.ReadFromUDPAddrPort(b.in); err != nil {
			return err
		}
	}
	return nil
}

func (b *barePair) Close() error {
	err := errors.Join(b.client.Close(), b.server.Close())
	b.answering.Wait()
	return err
}
