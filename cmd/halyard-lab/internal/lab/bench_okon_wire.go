package lab

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/internal/bench"
	"github.com/halyard-robotics/halyard/internal/must"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/protocols/okon"
)

// rigBench is an embedded rig behind its servers.
type rigBench struct {
	sys     *assembly.System
	servers *assembly.Servers
	running *bench.Background
}

// newRigBench runs the config called name, its servers at any ports; change, where it is not nil, may change the plan.
func newRigBench(ctx context.Context, name string, change func(*plan.Plan), protocols ...string) (_ *rigBench,
	err error) {
	defer must.Catch(&err)
	var o configs.Options
	for _, p := range protocols {
		o.Listen = append(o.Listen, p+"=127.0.0.1:0")
	}
	c := must.Get(configs.Load(name, o))
	b := &rigBench{}
	b.sys = must.Get(bench.BuildSystem(c, change))
	if b.servers, err = assembly.OpenServers(b.sys); err != nil {
		return nil, errors.Join(err, b.sys.Close())
	}
	b.running = bench.InBackground(context.WithoutCancel(ctx), b.sys.Rig.Run,
		func(ctx context.Context) error { return b.servers.Run(ctx, func() {}) })
	return b, nil
}

func (b *rigBench) Close() error { return errors.Join(b.running.Close(), b.sys.Close()) }

// benchSensors counts round trips of all clients together; bare is the same number of bare socket pairs.
func benchSensors(ctx context.Context, clients, trips int) (f bench.Figures, err error) {
	defer must.Catch(&err)
	b := must.Get(newRigBench(ctx, "okon", nil, "okon", "okon-video"))
	defer func() { err = errors.Join(err, b.Close()) }()
	var asked []*okon.Client
	var bare []*tcpPair
	defer func() {
		for _, c := range asked {
			err = errors.Join(err, c.Close())
		}
		for _, p := range bare {
			err = errors.Join(err, p.Close())
		}
	}()
	for range clients {
		c := must.Get(okon.Dial(b.servers.Ready[0].Address, barePatience))
		asked = append(asked, c)
		answer := must.Get(c.Ask(okon.GetSensors, okon.DoNotLog, nil))
		p := must.Get(newTCPPair(okonHeader, okonHeader+len(answer)))
		bare = append(bare, p)
	}
	n := bench.PerBlock(trips / clients)
	each := func(trips func(i int) error) func() (float64, error) {
		return bench.BlockRate(n*clients, func() error { return bench.Concurrently(clients, trips) })
	}
	rates := must.Get(bench.Alternate(ctx, each(func(i int) error {
		return bench.Repeat(n, func() error {
			_, err := asked[i].Ask(okon.GetSensors, okon.DoNotLog, nil)
			return err
		})
	}), each(func(i int) error { return bare[i].roundTrips(n) })))
	rate, bound := rates[0], rates[1]
	return bench.Figures{{Name: "trips_per_s", Value: report.Number(rate)},
		{Name: "bare_per_s", Value: report.Number(bound)}, {Name: "ratio", Value: report.Number(rate / bound)}}, nil
}

// okonHeader is the length of a packet without data.
const okonHeader = 6

// tcpPair is two connected sockets of which one answers each message of the other by one of another length.
type tcpPair struct {
	near      net.Conn
	in, out   []byte
	answering sync.WaitGroup
}

func newTCPPair(ask, answer int) (_ *tcpPair, err error) {
	defer must.Catch(&err)
	ln := must.Get(net.Listen("tcp", "127.0.0.1:0"))
	defer ln.Close()
	p := &tcpPair{in: make([]byte, answer), out: make([]byte, ask)}
	p.near = must.Get(net.Dial("tcp", ln.Addr().String()))
	far, err := ln.Accept()
	if err != nil {
		return nil, errors.Join(err, p.near.Close())
	}
	in, out := make([]byte, ask), make([]byte, answer)
	p.answering.Go(func() {
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
	return p, nil
}

// roundTrips makes n round trips, with one deadline for all: moving it costs time; the client under test moves its own
// once per exchange, the server does not.
func (p *tcpPair) roundTrips(n int) error {
	p.near.SetDeadline(time.Now().Add(10 * barePatience))
	return bench.Repeat(n, func() error {
		if _, err := p.near.Write(p.out); err != nil {
			return err
		}
		_, err := io.ReadFull(p.near, p.in)
		return err
	})
}

func (p *tcpPair) Close() error {
	err := p.near.Close()
	p.answering.Wait()
	return err
}

// keeping is how a rig kept its time in some blocks of benchControl.
type keeping struct {
	ticks, missed uint64
	late, work    hal.Histogram
	frames        int
	lasted        time.Duration
}

// benchControl runs rigs for span without video and for span with it, in alternating blocks, so that other load of the
// machine affects both.
func benchControl(ctx context.Context, span time.Duration) (without, with bench.Figures, err error) {
	var c [2]keeping
	for b := range 2 * bench.Blocks {
		video := (b+b/2)%2 == 1
		to := &c[0]
		if video {
			to = &c[1]
		}
		if err := errors.Join(to.Run(ctx, video, span/bench.Blocks), ctx.Err()); err != nil {
			return nil, nil, err
		}
	}
	return c[0].figures(), c[1].figures(), nil
}

// Run runs the rig for span with a client that commands stable mode and reads its sensors and, with video, one that
// requests pictures as fast as possible.
func (c *keeping) Run(ctx context.Context, video bool, span time.Duration) (err error) {
	defer must.Catch(&err)
	b := must.Get(newRigBench(ctx, "okon", nil, "okon", "okon-video"))
	defer func() { err = errors.Join(err, b.Close()) }()
	client := must.Get(okon.Dial(b.servers.Ready[0].Address, barePatience))
	defer client.Close()
	must.Be(errors.Join(client.SetMode("stable"), client.SetStable(okon.Stable{Depth: 1.5}),
		client.Arm()))
	ctx, cancel := context.WithTimeout(ctx, span)
	defer cancel()
	var viewing sync.WaitGroup
	var viewed error
	start := time.Now()
	if video {
		v := must.Get(okon.DialVideo(b.servers.Ready[1].Address, barePatience))
		viewing.Go(func() {
			defer v.Close()
			for ctx.Err() == nil && viewed == nil {
				if _, viewed = v.Next(); viewed == nil {
					c.frames++
				}
			}
		})
	}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for err == nil && ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-tick.C:
			_, err = client.Sensors()
		}
	}
	viewing.Wait()
	c.lasted += time.Since(start)
	var s hal.Stats
	b.sys.Rig.Stats(&s)
	c.ticks += s.Ticks
	c.missed += s.Missed
	c.late.Join(&s.Late)
	c.work.Join(&s.Work)
	return errors.Join(err, viewed)
}

// figures returns the times of the cycle and the period, which is their bound.
func (c *keeping) figures() bench.Figures {
	work := c.work.Quantile(0.99)
	return bench.Figures{{Name: "ticks", Value: report.Number(c.ticks)},
		{Name: "missed", Value: report.Number(c.missed)},
		{Name: "late_p50_us", Value: bench.Micros(c.late.Quantile(0.5))},
		{Name: "late_p99_us", Value: bench.Micros(c.late.Quantile(0.99))},
		{Name: "late_max_us", Value: bench.Micros(c.late.Max())},
		{Name: "work_p99_us", Value: bench.Micros(work)},
		{Name: "frames_per_s", Value: report.Number(float64(c.frames) / c.lasted.Seconds())},
		{Name: "bound_us", Value: bench.Micros(okonPeriod)},
		{Name: "ratio", Value: report.Number(float64(work) / float64(okonPeriod))}}
}
