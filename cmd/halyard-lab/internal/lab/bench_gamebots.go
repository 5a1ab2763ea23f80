package lab

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/bench"
	"github.com/halyard-robotics/halyard/internal/must"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/protocols/gamebots"
	"github.com/halyard-robotics/halyard/sim"
	"github.com/halyard-robotics/halyard/sim/model"
)

// benchGamebots measures rescue robots: the rays of a scanner; moving robots with all their sensors, each with a
// connection of its own, in real time; the time from a command to the state that shows it; and messages a second
// compared with bare TCP round trips of the same length, in alternating blocks.
func benchGamebots(ctx context.Context, size bench.Size, emit func(bench.Result)) error {
	f, err := benchRays(ctx, size.StepsOr(1000))
	if err != nil {
		return fmt.Errorf("bench: gamebots: rays: %w", err)
	}
	emit(bench.Result{Bench: "gamebots", Case: "rays of a scanner", Figures: f})
	span := size.Span()
	for _, robots := range []int{1, gamebots.DefaultConnections} {
		f, err := benchArena(ctx, robots, span/4)
		if err != nil {
			return fmt.Errorf("bench: gamebots: %d robots: %w", robots, err)
		}
		emit(bench.Result{Bench: "gamebots", Case: fmt.Sprintf("%d robots with all sensors", robots), Figures: f})
	}
	if f, err = benchOrders(ctx, size.StepsOr(200)); err != nil {
		return fmt.Errorf("bench: gamebots: orders: %w", err)
	}
	emit(bench.Result{Bench: "gamebots", Case: "DRIVE to STA", Figures: f})
	if f, err = benchMessages(ctx, size.StepsOr(20_000)); err != nil {
		return fmt.Errorf("bench: gamebots: messages: %w", err)
	}
	emit(bench.Result{Bench: "gamebots", Case: "GETCONF", Figures: f})
	return nil
}

// turret is a fixed robot that scans all around in every cycle: almost only rays.
const turret = `{name: turret, supply: {volts: 12, ohms: 0.1}, base: fixed,
bodies: [{name: base, mass_kg: 1, shapes: [{sphere: 0.05}]}, {name: head, mass_kg: 0.1, shapes: [{sphere: 0.02}]}],
joints: [{name: head, motor: ideal, torque_nm: 1, speed_rads: 1, limits_deg: [-90, 90], parent: base, child: head, anchor_m: [0, 0, 0], axis: [0, 0, 1]}],
sensors: [{name: scanner, path: /Scanner, kind: range, body: base, at_m: [0, 0, 0.1], range_m: 80, fov_deg: 360, resolution_deg: 0.1, interval_s: 0}]}`

// benchRays counts rays cast in the yellow arena, all of a scan in one batch. The bound is the rate of sixteen P2AT
// with their lasers, sonars and readers in real time.
func benchRays(ctx context.Context, scans int) (_ bench.Figures, err error) {
	defer must.Catch(&err)
	m := must.Get(model.Parse([]byte(turret), "turret"))
	s := sim.NewScene(sim.SceneConfig{Scene: func(seed int64) (*model.Scene,
		error) {
		return model.LoadScene("yellow", seed)
	}})
	defer s.Close()
	must.Get(s.Add("turret", m,
		hal.Pose{Position: [3]float64{4.5, -1.9, -1.8}, Rotation: [4]float64{1}}))
	rays := m.Sensors[0].Device.Rays()
	scanned := must.Get(bench.Alternate(ctx,
		bench.RateOf(bench.PerBlock(scans), func() error { return s.Advance(time.Millisecond) })))
	const need = 16 * (181*2 + 16*9*100) // twice a second a laser, every cycle of 10 ms the sonars' cones
	rate := scanned[0] * float64(rays)
	return bench.Figures{{Name: "rays_per_s", Value: report.Number(rate)},
		{Name: "ns_per_ray", Value: report.Number(1e9 / rate)}, {Name: "need_per_s", Value: need},
		{Name: "ratio", Value: report.Number(rate / need)}}, nil
}

// stopwatch is the wall clock; while enabled it records how long the rig works from one wake-up to the next sleep.
type stopwatch struct {
	hal.Clock
	noting atomic.Bool
	woke   time.Duration // the loop's

	mu     sync.Mutex
	work   hal.Histogram
	missed uint64
}

// SleepUntil is that of hal.Clock.
func (w *stopwatch) SleepUntil(t time.Duration) {
	now := w.Now()
	if w.noting.Load() {
		w.mu.Lock()
		w.work.Add(now - w.woke)
		if now > t {
			w.missed++
		}
		w.mu.Unlock()
	}
	w.Clock.SleepUntil(t)
	w.woke = w.Now()
}

// benchArena drives robots in the yellow arena for span, and reports how the rig keeps its period of 10 ms once all of
// them are spawned: each spawn delays it for a moment.
func benchArena(ctx context.Context, robots int, span time.Duration) (f bench.Figures, err error) {
	defer must.Catch(&err)
	w := &stopwatch{Clock: hal.WallClock()}
	b := must.Get(newRigBench(ctx, "usarsim", func(p *plan.Plan) { p.Clock = w }, "gamebots", "imageserver"))
	defer func() { err = errors.Join(err, b.Close()) }()
	var reading sync.WaitGroup
	defer reading.Wait()
	var received atomic.Uint64
	for i := range robots {
		c := must.Get(gamebots.Dial(b.servers.Ready[0].Address, gamebots.ClientOptions{Timeout: barePatience}))
		defer c.Close()
		// One a cell of the maze, in rows of eight.
		at := [3]float64{0.9 + 1.2*float64(i%8), 0.7 + 1.2*float64(i/8), 1.8}
		must.Be(errors.Join(c.Init("USARBot.P2AT", fmt.Sprint("R", i), at, [3]float64{}),
			c.Send("DRIVE {Left %d} {Right %d}", 1+i%2, 2-i%2)))
		reading.Go(func() {
			for {
				if _, err := c.Next(); err != nil {
					return
				}
				received.Add(1)
			}
		})
	}
	before, busy, start := received.Load(), cpuTime(), time.Now()
	w.noting.Store(true)
	select {
	case <-time.After(span):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	w.noting.Store(false)
	lasted := time.Since(start)
	busy = cpuTime() - busy
	w.mu.Lock()
	defer w.mu.Unlock()
	period := b.sys.Rig.Period()
	work := w.work.Quantile(0.99)
	return bench.Figures{{Name: "ticks", Value: report.Number(w.work.Count())},
		{Name: "late", Value: report.Number(w.missed)},
		{Name: "cpu_share", Value: report.Number(busy.Seconds() / lasted.Seconds())},
		{Name: "messages_per_s", Value: report.Number(float64(received.Load()-before) / lasted.Seconds())},
		{Name: "work_p50_us", Value: bench.Micros(w.work.Quantile(0.5))},
		{Name: "work_p99_us", Value: bench.Micros(work)}, {Name: "bound_us", Value: bench.Micros(period)},
		{Name: "ratio", Value: report.Number(float64(work) / float64(period))}}, nil
}

// benchOrders measures the time from DRIVE to the first STA that shows it. The command is the car's headlight, which
// switches at once; its messages are sent in every cycle. The bound is one cycle, since the command waits for the next
// one.
func benchOrders(ctx context.Context, n int) (f bench.Figures, err error) {
	defer must.Catch(&err)
	const class = "USARBot.USARCar"
	var period time.Duration
	b := must.Get(newRigBench(ctx, "usarsim", func(p *plan.Plan) {
		of := *p.Classes[class]
		robot, rescue := *of.Robot, *of.Robot.Rescue
		period = p.Config.Clock.Period
		rescue.Interval = period.Seconds()
		robot.Rescue, of.Robot, p.Classes[class] = &rescue, &robot, &of
	}, "gamebots", "imageserver"))
	defer func() { err = errors.Join(err, b.Close()) }()
	c := must.Get(gamebots.Dial(b.servers.Ready[0].Address, gamebots.ClientOptions{Timeout: barePatience}))
	defer c.Close()
	must.Be(c.Init(class, "", [3]float64{4.5, 1.9, 1.8}, [3]float64{}))
	took := make([]time.Duration, 0, n)
	for i := range n {
		if _, err := c.Wait("STA"); err != nil {
			return nil, errors.Join(err, ctx.Err())
		}
		want := [...]string{"True", "False"}[i%2]
		start := time.Now()
		must.Be(c.Send("DRIVE {Light %s}", want))
		must.Get(c.Wait("STA", "LightToggle", want))
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	us := func(q float64) report.Number { return bench.Micros(took[int(q*float64(len(took)-1))]) }
	return bench.Figures{{Name: "p50_us", Value: us(0.5)}, {Name: "p99_us", Value: us(0.99)},
		{Name: "max_us", Value: us(1)}, {Name: "bound_us", Value: bench.Micros(period)},
		{Name: "ratio", Value: us(0.99) / bench.Micros(period)}}, nil
}

// benchMessages counts answered queries while the robot sends its sensor messages; bare is a pair of sockets that only
// exchanges messages of the same length.
func benchMessages(ctx context.Context, trips int) (f bench.Figures, err error) {
	defer must.Catch(&err)
	b := must.Get(newRigBench(ctx, "usarsim", nil, "gamebots", "imageserver"))
	defer func() { err = errors.Join(err, b.Close()) }()
	c := must.Get(gamebots.Dial(b.servers.Ready[0].Address, gamebots.ClientOptions{Timeout: barePatience}))
	defer c.Close()
	must.Be(c.Init("USARBot.P2AT", "", [3]float64{4.5, 1.9, 1.8}, [3]float64{}))
	ask := func() error {
		if err := c.Send("GETCONF {Type Sonar}"); err != nil {
			return err
		}
		_, err := c.Wait("CONF")
		return err
	}
	const question, answer = 22, 76 // bytes of GETCONF {Type Sonar} and of its answer, with their line ends
	bare := must.Get(newTCPPair(question, answer))
	defer func() { err = errors.Join(err, bare.Close()) }()
	n := bench.PerBlock(trips)
	rates := must.Get(bench.Alternate(ctx, bench.RateOf(n, ask),
		bench.BlockRate(n, func() error { return bare.roundTrips(n) })))
	rate, bound := rates[0], rates[1]
	return bench.Figures{{Name: "messages_per_s", Value: report.Number(rate)},
		{Name: "bare_per_s", Value: report.Number(bound)}, {Name: "ratio", Value: report.Number(rate / bound)}}, nil
}
