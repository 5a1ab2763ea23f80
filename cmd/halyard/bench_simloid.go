package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/protocols/simloid"
)

// benchSimloid measures cycles a second over TCP sockets on the loopback interface: client, server, rig and physics in
// this process, the sensors' noise on. A cycle is a voltage for each joint and DONE out, a status back.
//
// Two things bound it, measured in blocks that alternate with those of the cycles: the same robot's physics alone under
// the same voltages, and bare round trips of as many bytes each way between sockets that do nothing else. One after the
// other they would take 1/physics + 1/bare, which bound_per_s is of; what it leaves is text, noise and the rig.
func benchSimloid(ctx context.Context, size benchSize, emit func(result)) error {
	for _, id := range []int{31, 50} {
		f, err := runSimloid(ctx, id, size.stepsOr(10_000))
		if err != nil {
			return fmt.Errorf("bench: simloid: robot %d: %w", id, err)
		}
		emit(result{"simloid", fmt.Sprintf("robot %d", id), f})
	}
	return nil
}

// runSimloid measures one robot.
func runSimloid(ctx context.Context, id, steps int) (f figures, err error) {
	b, err := newSimloidBench(ctx, id)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	n := perBlock(steps)
	var rates [3][benchBlocks]float64
	for block := range benchBlocks {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for turn := range rates { // each goes first in its turn
			which := (turn + block) % len(rates)
			start := time.Now()
			if err := [...]func(int) error{b.cycles, b.physics, b.roundTrips}[which](n); err != nil {
				return nil, err
			}
			rates[which][block] = float64(n) / time.Since(start).Seconds()
		}
	}
	rate, physics, bare := median(rates[0][:]), median(rates[1][:]), median(rates[2][:])
	bound := 1 / (1/physics + 1/bare)
	return figures{{"cycles_per_s", number(rate)}, {"physics_per_s", number(physics)}, {"bare_per_s", number(bare)},
		{"bound_per_s", number(bound)}, {"ratio", number(rate / bound)},
		{"of_physics", number(rate / physics)}, {"of_bare", number(rate / bare)}}, nil
}

// simloidBench is a robot behind its server with a client, its twin without either, and a pair of bare sockets.
type simloidBench struct {
	client   *simloid.Client
	command  simloid.Command
	twin     *system // only its bodies and worlds are used
	frame    *hal.Frame
	at       [2]int // how often the client and the twin have stepped
	in, out  []byte
	near     net.Conn
	stop     context.CancelFunc
	running  sync.WaitGroup
	errs     [2]error
	closings []func() error
}

func newSimloidBench(ctx context.Context, id int) (b *simloidBench, err error) {
	b = &simloidBench{}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.close())
		}
	}()
	text := fmt.Sprintf("name: bench\nagents: [{name: robot, model: simloid-%d}]\nservers: [{protocol: simloid, listen: \"127.0.0.1:0\"}]", id)
	c, err := configs.Parse([]byte(text), "bench", configs.Options{})
	if err != nil {
		return b, err
	}
	p, err := resolve(c)
	if err != nil {
		return b, err
	}
	sys, err := build(p, slog.New(slog.DiscardHandler))
	if err != nil {
		return b, err
	}
	b.closings = append(b.closings, sys.close)
	if b.twin, err = build(p, slog.New(slog.DiscardHandler)); err != nil {
		return b, err
	}
	b.closings = append(b.closings, b.twin.close)
	// A client's first status comes after a step without a command.
	b.frame = hal.NewFrame(b.twin.bodies[0].Layout())
	if err := b.stepTwin(); err != nil {
		return b, err
	}
	srv, at, err := newServer(sys, &c.Servers[0], netip.MustParseAddrPort("127.0.0.1:0"))
	if err != nil {
		return b, err
	}
	ctx, b.stop = context.WithCancel(context.WithoutCancel(ctx))
	b.running.Go(func() { b.errs[0] = sys.rig.Run(ctx) })
	b.running.Go(func() { b.errs[1] = srv.Serve(ctx) })
	if b.client, err = simloid.Dial(at.String(), simloid.ClientOptions{}); err != nil {
		return b, err
	}
	b.command = simloid.Command{Verb: simloid.UX, Values: make([]float64, len(b.client.Traits().Joints))}
	return b, b.openBare()
}

// voltages are small, and other ones in each cycle. Client and twin get the same, so that both robots do the same.
func (b *simloidBench) voltages(at *int) []float64 {
	*at++
	for i := range b.command.Values {
		b.command.Values[i] = 0.25 * math.Sin(0.05*float64(*at)+float64(i))
	}
	return b.command.Values
}

func (b *simloidBench) cycles(n int) error {
	for range n {
		b.voltages(&b.at[0])
		if _, err := b.client.Cycle(b.command); err != nil {
			return err
		}
	}
	return nil
}

func (b *simloidBench) physics(n int) error {
	l := b.twin.bodies[0].Layout()
	for range n {
		for i, u := range b.voltages(&b.at[1]) {
			a := &l.Actuators[i]
			b.frame.Enable[i], b.frame.Inputs[a.Goal[hal.DutyMode]] = true, u
			b.frame.Inputs[a.TorqueLimit] = a.Limits.MaxTorque
		}
		if err := b.stepTwin(); err != nil {
			return err
		}
	}
	return nil
}

// stepTwin is what a rig does with a body and its worlds in a cycle.
func (b *simloidBench) stepTwin() error {
	body := b.twin.bodies[0]
	err := body.Write(b.frame)
	for _, w := range b.twin.worlds {
		err = errors.Join(err, w.Advance(benchPeriod))
	}
	return errors.Join(err, body.Read(b.frame))
}

// openBare connects two sockets of which one answers a message as long as the client's by one as long as a status.
func (b *simloidBench) openBare() error {
	b.voltages(new(int))
	b.out = simloid.Append(append(b.out, "DONE\n"...), &b.command)
	b.in = simloid.AppendStatus(nil, b.client.Status())
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer ln.Close()
	if b.near, err = net.Dial("tcp", ln.Addr().String()); err != nil {
		return err
	}
	far, err := ln.Accept()
	if err != nil {
		return err
	}
	out, in := make([]byte, len(b.in)), make([]byte, len(b.out))
	b.running.Go(func() {
		defer far.Close()
		for {
			if _, err := io.ReadFull(far, in); err != nil {
				return
			}
			if _, err := far.Write(out); err != nil {
				return
			}
		}
	})
	return nil
}

func (b *simloidBench) roundTrips(n int) error {
	b.near.SetDeadline(time.Now().Add(barePatience))
	for range n {
		if _, err := b.near.Write(b.out); err != nil {
			return err
		}
		if _, err := io.ReadFull(b.near, b.in); err != nil {
			return err
		}
	}
	return nil
}

// close ends the client, then the server and the rig, and gives everything back.
func (b *simloidBench) close() error {
	var faults []error
	if b.client != nil {
		faults = append(faults, b.client.Close())
	}
	if b.near != nil {
		faults = append(faults, b.near.Close())
	}
	if b.stop != nil {
		b.stop()
	}
	b.running.Wait()
	for _, f := range b.closings {
		faults = append(faults, f())
	}
	return errors.Join(append(faults, b.errs[:]...)...)
}
