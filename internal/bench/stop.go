package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/must"
	"github.com/halyard-robotics/halyard/internal/report"
)

// stopDeadline is the command deadline of the rigs that are stopped.
const stopDeadline = 100 * time.Millisecond

// stopSources are the causes of a stop that are measured, in the order of the table. The supervisor's are of another
// process.
func stopSources() []string {
	return append([]string{"protocol", "control socket", "space", "stop input", "deadline"}, processSources...)
}

// Stop measures the time from the cause of a stop to the first torque-off byte of the last line, and to the last
// joint's acknowledgement. Lines are emulated in memory: their time on the wire is added from their own clocks.
// bound_us is the bytes of a torque-off and of one reading of each joint on the fullest line, at 10 bits each.
func Stop(ctx context.Context, size Size, emit func(Result)) (err error) {
	defer must.Catch(&err)
	trials := size.StepsOr(100)
	for _, name := range []string{"demo", "so101", "a-series"} { // a humanoid and a pendulum, an arm, a humanoid
		must.Be(withStopRig(ctx, name, stopLoad{}, func(s *stopRig) error {
			for _, source := range stopSources() {
				f, err := s.measure(ctx, source, trials)
				if err != nil {
					return fmt.Errorf("%s, %s: %w", name, source, err)
				}
				emit(Result{"stop", name + ", " + source, f})
			}
			return nil
		}))
	}
	for _, load := range []stopLoad{
		{lines: 1}, {lines: 3}, {lines: 8}, {lines: 3, dead: true}, {lines: 3, connections: 1000},
		{lines: 3, blocked: true}, {lines: 3, busy: 4},
	} {
		must.Be(withStopRig(ctx, "", load, func(s *stopRig) error {
			f, err := s.measure(ctx, "control socket", max(1, trials/4))
			if err != nil {
				return fmt.Errorf("%s: %w", load, err)
			}
			emit(Result{"stop", load.String(), f})
			return nil
		}))
	}
	return benchSupervisor(ctx, size, emit)
}

// stopLoad is a robot made for the test, and the disturbance of its stop.
type stopLoad struct {
	lines       int // of 20 servos each
	dead        bool
	connections int
	blocked     bool // the log's output is not read
	busy        int  // processes that keep a core busy
}

func (l stopLoad) String() string {
	text := fmt.Sprintf("%d x 20 servos", l.lines)
	switch {
	case l.dead:
		text += ", one line silent"
	case l.connections > 0:
		text += fmt.Sprintf(", %d connections", l.connections)
	case l.blocked:
		text += ", stderr blocked"
	case l.busy > 0:
		text += fmt.Sprintf(", %d busy processes", l.busy)
	}
	return text
}

// files are the config and the robot of l.
func (l stopLoad) files() map[string]string {
	t, table := publishedTable()
	robot, rig, agents := &strings.Builder{}, &strings.Builder{}, &strings.Builder{}
	robot.WriteString("name: kit\ntitle: twenty servos\nsupply: {volts: 12, ohms: 0.001}\njoints:\n")
	for i := range 20 {
		fmt.Fprintf(robot, "  - {name: j%d, servo: %s, modes: [position], limits_deg: [-60, 60], load: {mass_kg: "+
			"0.1, length_m: 0.1, inertia_kgm2: 0.001}}\n", i+1, table.Model)
	}
	rig.WriteString("name: kit\nclock: {mode: realtime, period: 20ms}\nbuses:\n")
	for k := range l.lines {
		fmt.Fprintf(rig, "  line%d: {type: %s, baud: 1000000, port: /dev/bench%d}\n", k, t.Type, k)
		fmt.Fprintf(agents, "  - name: arm%d\n    model: robot.yaml\n    body: emulated\n    pose: {position: [%d, "+
			"0, 0]}\n    hardware:\n      joints:\n", k, k)
		for i := range 20 {
			fmt.Fprintf(agents, "        j%d: {bus: line%d, id: %d, model: %s}\n", i+1, k, i+1, table.Model)
		}
	}
	return map[string]string{"robot.yaml": robot.String(), "kit.yaml": rig.String() + "agents:\n" + agents.String()}
}

// errNoStop reports a missing stop.
var errNoStop = errors.New("no stop within 10 s")

// until waits until seen returns true after a cycle.
func (s *stopRig) until(ctx context.Context, seen func() bool) error {
	for end := time.Now().Add(10 * time.Second); ; {
		s.mu.Lock()
		ok := seen()
		s.mu.Unlock()
		switch {
		case ok:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case time.Now().After(end):
			return fmt.Errorf("torque: got %d of %d joints: %w", s.on, s.of, errNoStop)
		}
		time.Sleep(time.Millisecond)
	}
}

// learn stores each line's first torque-off telegram, and the bytes of one and of a reading of each joint.
func (s *stopRig) learn() (bound time.Duration) {
	s.sys.Rig.BetweenCycles(func() {
		cut := map[string]int64{}
		for i := range s.sys.Lines {
			l := s.lines[s.sys.Lines[i].Name]
			l.learn, l.cut = true, nil
			before := l.bytes.Load()
			if c, ok := s.sys.Lines[i].Chain.(hal.TorqueCutter); ok {
				c.CutTorque() // a line that is silent is measured too
			}
			cut[s.sys.Lines[i].Name] = l.bytes.Load() - before
			l.learn = false
			l.bytes.Store(0)
		}
		for _, b := range s.sys.Bodies {
			b.Halt()
		}
		for name, l := range s.lines {
			n := l.bytes.Load() - cut[name] // Halt sends it twice
			bound = max(bound, time.Duration(n*10)*time.Second/time.Duration(l.Baud()))
		}
	})
	s.sys.Rig.EmergencyStop("bench")
	return bound
}

// once stops the rig once. cut is the time to the first torque-off byte of the last line, < 0 where it is no emergency
// stop; ack is that to the last joint's acknowledgement.
func (s *stopRig) once(ctx context.Context, source string) (cut, ack time.Duration, err error) {
	select {
	case <-s.stopped:
	default:
	}
	before := map[*stopLine]int64{}
	for _, l := range s.lines {
		before[l] = l.wire.Load()
		l.first.Store(0)
	}
	start := time.Since(s.begin)
	s.triggers[source]()
	defer s.press.Store(false)
	if source == "deadline" {
		err = s.until(ctx, func() bool { return s.on == 0 })
		return -1, s.off - s.last - stopDeadline, err
	}
	timer := time.NewTimer(10 * time.Second)
	defer timer.Stop()
	select {
	case <-s.stopped:
	case <-timer.C:
		return 0, 0, errNoStop
	case <-ctx.Done():
		return 0, 0, ctx.Err()
	}
	busy := int64(0)
	for _, l := range s.lines {
		busy = max(busy, l.wire.Load()-before[l])
		if at := l.first.Load(); at > 0 {
			cut = max(cut, time.Duration(at+l.spent.Load()-before[l])-start)
		}
	}
	return cut, time.Duration(s.verify.Load()+busy) - start, nil
}

// measure stops the rig trials times from one source.
func (s *stopRig) measure(ctx context.Context, source string, trials int) (_ Figures, err error) {
	defer must.Catch(&err)
	bound := s.learn()
	dice := rand.New(rand.NewPCG(1, 2))
	var cuts, acks []float64
	for range trials {
		s.silent.Store(true)
		time.Sleep(3 * s.sys.Rig.Period()) // torque returns to joints that were off for a cycle
		s.sys.Rig.Recover()                // it clears nothing on a silent line
		must.Be(s.sys.Rig.Arm())
		s.silent.Store(false)
		must.Be(s.until(ctx, func() bool { return s.of > 0 && s.on == s.of }))
		time.Sleep(time.Duration(dice.Float64() * float64(s.sys.Rig.Period())))
		cut, ack, err := s.once(ctx, source)
		if err != nil {
			return nil, err
		}
		if cut >= 0 {
			cuts = append(cuts, cut.Seconds()*1e6)
		}
		acks = append(acks, ack.Seconds()*1e6)
	}
	return stopFigures(cuts, acks, bound), nil
}

// stopFigures are the figures of stops in µs.
func stopFigures(cuts, acks []float64, bound time.Duration) Figures {
	slices.Sort(cuts)
	slices.Sort(acks)
	at := func(list []float64, share float64) report.Number {
		if len(list) == 0 {
			return report.Number(math.NaN())
		}
		return report.Number(list[min(len(list)-1, int(share*float64(len(list))))])
	}
	us := report.Number(bound.Seconds() * 1e6)
	return Figures{
		{"stops", report.Number(len(acks))}, {"cut_median_us", at(cuts, 0.5)}, {"cut_p99_us", at(cuts, 0.99)},
		{"cut_max_us", at(cuts, 1)},
		{"ack_median_us", at(acks, 0.5)}, {"ack_p99_us", at(acks, 0.99)}, {"ack_max_us", at(acks, 1)}, {"bound_us", us},
		{"ratio", at(acks, 0.5) / us},
	}
}
