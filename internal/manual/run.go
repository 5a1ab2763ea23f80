package manual

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/report"
)

const (
	tick        = 20 * time.Millisecond
	reportEvery = 100 * time.Millisecond // of a move
	settleTime  = 1500 * time.Millisecond
	stallTime   = 3 * time.Second // that a joint may keep its path waiting
	lostTime    = 2 * time.Second // without a reading: answers are lost on any line
	guideTorque = 0.2             // share of the greatest torque
	guideSlack  = 0.02            // rad that a hand moves a joint before its goal follows
)

// Run executes q on rig until it is done or ctx ends, and calls seen with each update. Joints that have begun to move
// hold when it returns. An error of seen ends it.
func Run(ctx context.Context, rig *hal.Rig, q *Request, seen func(Update) error) error {
	d := &drive{rig: rig, begin: time.Now(), seen: seen}
	switch q.Op {
	case Watch, Guide:
		list, err := axes(rig, nil)
		if err != nil {
			return err
		}
		d.list = list
		return d.follow(ctx, q.Op == Guide)
	case Hold, Move, Play:
	default:
		return &hal.Error{Kind: hal.Invalid, Op: "operate",
			Err: fmt.Errorf("got %.20q, want move, play, hold, watch or guide", q.Op)}
	}
	hinge, slide, err := q.speeds()
	if err != nil {
		return err
	}
	pace, err := q.playPace()
	if err != nil {
		return err
	}
	if d.list, err = q.joints(ctx, rig); err != nil {
		return err
	}
	return d.commanded(ctx, func() error {
		if err := d.move(ctx, hinge, slide); err != nil || q.Op != Play {
			return err
		}
		return d.play(ctx, q.Motion, pace)
	})
}

// joints finds the joints of q, from where and to where they move first. An answer that is lost now is waited for.
func (q *Request) joints(ctx context.Context, rig *hal.Rig) (list []*axis, err error) {
	find := map[Op]func(*hal.Rig) ([]*axis, error){Move: q.goals, Play: q.Motion.start, Hold: resting}[q.Op]
	for tries := 0; ; tries++ {
		list, err = find(rig)
		if k := hal.KindOf(err); err == nil || k != hal.Timeout && k != hal.BusFault || tries > int(lostTime/tick) {
			return list, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Canceled
		case <-time.After(tick):
		}
	}
}

// resting are all joints, where they are.
func resting(rig *hal.Rig) (list []*axis, err error) {
	all, err := axes(rig, nil)
	for _, x := range all {
		if x.act.Wraps {
			continue
		}
		if err := x.blocked(); err != nil {
			return nil, err
		}
		x.from = x.start()
		x.to = x.from
		list = append(list, x)
	}
	return list, err
}

// drive commands the joints of a request.
type drive struct {
	rig    *hal.Rig
	list   []*axis
	begin  time.Time
	last   time.Time // update
	seen   func(Update) error
	leases map[*hal.Agent]*held
	ticker *time.Ticker
	passed time.Time // the last tick
	stall  time.Duration
	lost   time.Time // since when a joint is not read; zero: all are
}

// held is an agent whose lease the drive has.
type held struct {
	session *hal.Session
	lease   *hal.Lease
	inputs  []float64
	rest    []*axis // joints of no goal: they stay where they are while others move
}

// noObserver ignores the cycle.
type noObserver struct{}

func (noObserver) Cycle(*hal.Cycle) {}

// commanded calls f with the leases of all agents in the list. At its end the joints hold.
func (d *drive) commanded(ctx context.Context, f func() error) error {
	d.leases = map[*hal.Agent]*held{}
	defer func() {
		for _, h := range d.leases {
			h.session.Close()
		}
	}()
	for _, x := range d.list {
		if d.leases[x.agent] != nil {
			continue
		}
		s := d.rig.NewSession("operator", noObserver{})
		lease, err := s.Acquire(x.agent)
		if err != nil {
			s.Close()
			return err
		}
		h := &held{session: s, lease: lease, inputs: make([]float64, len(x.agent.Layout().Inputs))}
		hal.FillNaN(h.inputs)
		d.leases[x.agent] = h
	}
	d.keepRest()
	d.start()
	defer d.ticker.Stop()
	err := f()
	if err == nil {
		return d.update(true)
	}
	if e := context.Cause(ctx); e != nil && errors.Is(err, context.Canceled) {
		return errors.Join(context.Canceled, e)
	}
	return err
}

// keepRest finds the joints without torque of each agent that are not in the list: they get it where they are.
func (d *drive) keepRest() {
	all, _ := axes(d.rig, nil)
	for _, x := range all {
		h := d.leases[x.agent]
		if h == nil || x.act.Wraps || x.blocked() != nil || x.agent.Goals(nil)[x.index].Mode != hal.NoMode ||
			slices.ContainsFunc(d.list, func(y *axis) bool { return y.agent == x.agent && y.index == x.index }) {
			continue
		}
		x.to = x.at()
		h.rest = append(h.rest, x)
	}
}

func (d *drive) start() {
	every := tick
	if d.rig.Mode() == hal.Lockstep { // its time passes by the drive's own steps
		every = d.rig.Period()
	}
	d.ticker, d.passed = time.NewTicker(every), time.Now()
}

// wait waits for the next tick and returns the seconds since the last one, at most two ticks: after a pause of the
// process the path goes on from where it was.
func (d *drive) wait(ctx context.Context) (float64, error) {
	select {
	case <-ctx.Done():
		return 0, context.Canceled
	case now := <-d.ticker.C:
		dt := now.Sub(d.passed)
		d.passed = now
		return max(0, min(dt, 2*tick)).Seconds(), nil
	}
}

// goal stages a goal of x.
func (d *drive) goal(x *axis, position float64) {
	d.leases[x.agent].inputs[x.act.Goal[hal.PositionMode]] = position
}

// send commands all staged goals, after it has checked that the joints can follow.
func (d *drive) send() error {
	var lost error
	for _, x := range d.list {
		err := x.blocked()
		if k := hal.KindOf(err); err != nil && k != hal.Timeout && k != hal.BusFault {
			return err
		}
		lost = cmp.Or(lost, err)
	}
	if now := time.Now(); lost == nil {
		d.lost = time.Time{}
	} else if d.lost.IsZero() {
		d.lost = now
	} else if now.Sub(d.lost) > lostTime {
		return lost
	}
	return d.step()
}

func (d *drive) step() error {
	for _, h := range d.leases {
		for _, x := range h.rest {
			d.goal(x, x.to)
		}
		if d.rig.Mode() == hal.Lockstep && h.lease.Pending() { // another party has not asked for the step yet
			continue
		}
		if err := h.session.Step(h.lease, h.inputs); err != nil {
			return err
		}
		hal.FillNaN(h.inputs)
	}
	return nil
}

// move moves all joints from their start to their goals in the same time, and waits until they are there.
func (d *drive) move(ctx context.Context, hinge, slide float64) error {
	seconds := 0.0
	for _, x := range d.list {
		speed := min(x.of(hinge, slide), x.act.Limits.MaxVelocity)
		way := math.Abs(x.to - x.from)
		// A smooth step has 1.5 times its mean speed in the middle, and 6 ways over time squared at its ends.
		seconds = max(seconds, 1.5*way/speed, math.Sqrt(6*way/(4*speed)))
	}
	for t := 0.0; ; {
		u := 1.0
		if seconds > 0 {
			u = min(1, t/seconds)
		}
		s := u * u * (3 - 2*u)
		for _, x := range d.list {
			d.goal(x, x.from+s*(x.to-x.from))
		}
		if err := d.send(); err != nil {
			return err
		}
		dt, err := d.wait(ctx)
		if err != nil {
			return err
		}
		if u == 1 {
			return d.settle(ctx)
		}
		if dt, err = d.waits(dt, func(x *axis) float64 { return x.from + s*(x.to-x.from) }); err != nil {
			return err
		}
		t += dt
		if err := d.update(false); err != nil {
			return err
		}
	}
}

// waits is dt, or 0 while a joint is too far behind its goal; for too long is an error.
func (d *drive) waits(dt float64, goal func(*axis) float64) (float64, error) {
	for _, x := range d.list {
		off := x.off(goal(x), x.at())
		if math.Abs(off) <= x.of(hingeLead, slideLead) {
			continue
		}
		if math.IsNaN(off) { // send counts how long
			return 0, nil
		}
		if d.stall += time.Duration(dt * float64(time.Second)); d.stall > stallTime {
			return 0, &hal.Error{Kind: hal.Unsafe, Op: "move " + x.act.Name, Try: "halyard status",
				Err: fmt.Errorf("it does not follow: got %s %s, want %s: is it blocked?", report.Number(x.at()),
					x.unit(),
					report.Number(goal(x)))}
		}
		return 0, nil
	}
	d.stall = 0
	return dt, nil
}

// settle waits until all joints are near their goals. One that is not is an error.
func (d *drive) settle(ctx context.Context) error {
	for waited := 0.0; ; {
		var far *axis
		for _, x := range d.list {
			if !(math.Abs(x.off(x.to, x.at())) <= x.of(hingeNear, slideNear)) {
				far = x
			}
		}
		if far == nil && waited > 0.2 { // it may still swing
			return nil
		}
		if waited > settleTime.Seconds() {
			return &hal.Error{Kind: hal.Differs, Op: "move " + far.act.Name, Try: "halyard status",
				Err: fmt.Errorf("got %s %s, want %s: too much load, or blocked", report.Number(far.at()), far.unit(),
					report.Number(far.to))}
		}
		for _, x := range d.list {
			d.goal(x, x.to)
		}
		if err := d.send(); err != nil {
			return err
		}
		dt, err := d.wait(ctx)
		if err != nil {
			return err
		}
		waited += dt
		if err := d.update(false); err != nil {
			return err
		}
	}
}

// play moves the joints along m at a pace.
func (d *drive) play(ctx context.Context, m *Motion, pace float64) error {
	last := m.Samples[len(m.Samples)-1].Time
	for t := m.Samples[0].Time; ; {
		goals := m.at(t)
		for i, x := range d.list {
			x.to = goals[i]
			d.goal(x, goals[i])
		}
		if err := d.send(); err != nil {
			return err
		}
		dt, err := d.wait(ctx)
		if err != nil {
			return err
		}
		if t >= last {
			return d.settle(ctx)
		}
		if dt, err = d.waits(dt, func(x *axis) float64 { return x.to }); err != nil {
			return err
		}
		t = min(last, t+dt*pace)
		if err := d.update(false); err != nil {
			return err
		}
	}
}

// follow reports positions until ctx ends. With hands, joints follow a hand with a low torque.
func (d *drive) follow(ctx context.Context, hands bool) error {
	if !hands {
		d.start()
		defer d.ticker.Stop()
		for {
			for _, x := range d.list {
				x.from = x.at()
				x.to = x.start()
			}
			if err := d.watched(); err != nil {
				return err
			}
			if _, err := d.wait(ctx); err != nil {
				return nil
			}
		}
	}
	for _, x := range d.list {
		if err := x.blocked(); err != nil {
			return err
		}
		if x.act.TorqueLimit == hal.None {
			return &hal.Error{Kind: hal.Invalid, Op: "guide " + x.act.Name, Try: "without --compliant",
				Err: errors.New("its drive has no torque limit")}
		}
		x.to = x.start()
	}
	err := d.commanded(ctx, func() error {
		defer d.torque(1)
		for {
			for _, x := range d.list {
				off, slack := x.off(x.at(), x.to), x.of(guideSlack, guideSlack/10)
				if math.Abs(off) > slack {
					x.to += off - math.Copysign(slack, off)
				}
				x.to = x.clamp(x.to)
				d.goal(x, x.to)
			}
			d.limit(guideTorque)
			if err := d.send(); err != nil {
				return err
			}
			if err := d.watched(); err != nil {
				return err
			}
			if _, err := d.wait(ctx); err != nil {
				return err
			}
		}
	})
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

func (x *axis) clamp(v float64) float64 {
	if x.act.Wraps {
		return v
	}
	return max(x.act.Limits.MinPosition, min(x.act.Limits.MaxPosition, v))
}

// limit stages a share of the torque.
func (d *drive) limit(share float64) {
	for _, x := range d.list {
		d.leases[x.agent].inputs[x.act.TorqueLimit] = share * x.act.Limits.MaxTorque
	}
}

// torque commands a share of the torque at once.
func (d *drive) torque(share float64) {
	d.limit(share)
	d.step()
}

func (d *drive) watched() error {
	d.last = time.Time{}
	return d.update(false)
}

// update reports the joints, at most every reportEvery.
func (d *drive) update(done bool) error {
	now := time.Now()
	if !done && now.Sub(d.last) < reportEvery {
		return nil
	}
	d.last = now
	u := Update{Time: now.Sub(d.begin).Seconds(), Done: done}
	for _, x := range d.list {
		u.Joints = append(u.Joints, x.report())
	}
	return d.seen(u)
}
