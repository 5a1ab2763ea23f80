package lab

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"slices"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/internal/bench"
	"github.com/halyard-robotics/halyard/internal/builtin"
	"github.com/halyard-robotics/halyard/internal/must"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/protocols/simloid"
)

// benchSimloid measures cycles a second over TCP sockets on the loopback interface: client, server, rig and physics in
// this process, the sensors' noise on. A cycle is a voltage for each joint and DONE out, a status back.
//
// Two rates bound it, measured in blocks that alternate with those of the cycles: only the physics of the same robot
// with the same voltages, and bare round trips of as many bytes in each direction. One after the other they take
// 1/physics + 1/bare, the inverse of bound_per_s; the remainder is text, noise and the rig.
func benchSimloid(ctx context.Context, size bench.Size, emit func(bench.Result)) error {
	for _, id := range []int{31, 50} {
		f, err := runSimloid(ctx, id, size.StepsOr(10_000))
		if err != nil {
			return fmt.Errorf("bench: simloid: robot %d: %w", id, err)
		}
		emit(bench.Result{Bench: "simloid", Case: fmt.Sprintf("robot %d", id), Figures: f})
	}
	return nil
}

// runSimloid measures one robot.
func runSimloid(ctx context.Context, id, steps int) (f bench.Figures, err error) {
	defer must.Catch(&err)
	b := must.Get(NewSimloidBench(ctx, id))
	defer func() { err = errors.Join(err, b.Close()) }()
	n := bench.PerBlock(steps)
	rates := must.Get(bench.Alternate(ctx, bench.RateOf(n, b.Cycle), bench.RateOf(n, b.Physics),
		bench.BlockRate(n, func() error { return b.bare.roundTrips(n) })))
	rate, physics, bare := rates[0], rates[1], rates[2]
	bound := 1 / (1/physics + 1/bare)
	return bench.Figures{{Name: "cycles_per_s", Value: report.Number(rate)},
		{Name: "physics_per_s", Value: report.Number(physics)}, {Name: "bare_per_s", Value: report.Number(bare)},
		{Name: "bound_per_s", Value: report.Number(bound)}, {Name: "ratio", Value: report.Number(rate / bound)},
		{Name: "of_physics", Value: report.Number(rate / physics)},
		{Name: "of_bare", Value: report.Number(rate / bare)}}, nil
}

// simloidBench is a robot behind its server with a client, its twin without either, and a pair of bare sockets.
type simloidBench struct {
	Client   *simloid.Client
	command  simloid.Command
	Twin     *assembly.System // only its bodies and worlds are used
	Frame    *hal.Frame
	at       [2]int // how often the client and the twin have stepped
	bare     *tcpPair
	closings []func() error // in the reverse order
}

func NewSimloidBench(ctx context.Context, id int) (b *simloidBench, err error) {
	b = &simloidBench{}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.Close())
		}
	}()
	text := fmt.Sprintf("name: bench\nagents: [{name: robot, model: simloid-%d}]\nservers: [{protocol: simloid, "+
		"listen: \"127.0.0.1:0\", poll: false}]", id)
	c, err := configs.Parse([]byte(text), "bench", configs.Options{})
	if err != nil {
		return b, err
	}
	sys, err := bench.BuildSystem(c, nil)
	if err != nil {
		return b, err
	}
	b.closings = append(b.closings, sys.Close)
	if b.Twin, err = bench.BuildSystem(c, nil); err != nil {
		return b, err
	}
	b.closings = append(b.closings, b.Twin.Close)
	// A client's first status follows a step without a command.
	b.Frame = hal.NewFrame(b.Twin.Bodies[0].Layout())
	if err := b.stepTwin(); err != nil {
		return b, err
	}
	srv, at, err := builtin.Catalog().Listen(sys, sys.Rig, &c.Servers[0], netip.MustParseAddrPort("127.0.0.1:0"))
	if err != nil {
		return b, err
	}
	b.closings = append(b.closings, bench.InBackground(context.WithoutCancel(ctx), sys.Rig.Run, srv.Serve).Close)
	if b.Client, err = simloid.Dial(at.String(), simloid.ClientOptions{}); err != nil {
		return b, err
	}
	b.closings = append(b.closings, b.Client.Close)
	b.command = simloid.Command{Verb: simloid.UX, Values: make([]float64, len(b.Client.Traits().Joints))}
	b.voltages(new(int))
	command := simloid.Append([]byte("DONE\n"), &b.command)
	if b.bare, err = newTCPPair(len(command), len(simloid.AppendStatus(nil, b.Client.Status()))); err != nil {
		return b, err
	}
	b.closings = append(b.closings, b.bare.Close)
	return b, nil
}

// voltages are small, and other ones in each cycle. Client and twin get the same, so that both robots do the same.
func (b *simloidBench) voltages(at *int) []float64 {
	*at++
	for i := range b.command.Values {
		b.command.Values[i] = 0.25 * math.Sin(0.05*float64(*at)+float64(i))
	}
	return b.command.Values
}

// Cycle is one of the client.
func (b *simloidBench) Cycle() error {
	b.voltages(&b.at[0])
	_, err := b.Client.Cycle(b.command)
	return err
}

// Physics is one cycle of the twin.
func (b *simloidBench) Physics() error {
	l := b.Twin.Bodies[0].Layout()
	for i, u := range b.voltages(&b.at[1]) {
		a := &l.Actuators[i]
		b.Frame.Enable[i], b.Frame.Inputs[a.Goal[hal.DutyMode]] = true, u
		b.Frame.Inputs[a.TorqueLimit] = a.Limits.MaxTorque
	}
	return b.stepTwin()
}

// stepTwin does the work of a rig's cycle on a body and its worlds.
func (b *simloidBench) stepTwin() error {
	body := b.Twin.Bodies[0]
	err := body.Write(b.Frame)
	for _, w := range b.Twin.Worlds {
		err = errors.Join(err, w.Advance(benchPeriod))
	}
	return errors.Join(err, body.Read(b.Frame))
}

// Close ends the client, then the server and the rig, and closes everything.
func (b *simloidBench) Close() error {
	var faults []error
	for _, end := range slices.Backward(b.closings) {
		faults = append(faults, end())
	}
	return errors.Join(faults...)
}
