package assembly

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/sim"
	"github.com/halyard-robotics/halyard/sim/emulator"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// pulse is how often the emulated world moves: often enough for a client that reads at 250 Hz.
const pulse = 2 * time.Millisecond

// longestPulse bounds one step of the world after this process was stopped for a while: the servos did not move then.
const longestPulse = 100 * time.Millisecond

// emulatedBus is one line of a config on emulated servos.
type emulatedBus struct {
	name string
	Bus  *emulator.Bus
	on   []plan.JointRef // the joints of its servos, in their order
}

// EmulatedWorld is all servos of a config, emulated, in one scene, and on request all other devices.
type EmulatedWorld struct {
	mu      sync.Mutex // held around the scene's steps and while a bus touches its servos
	Scene   *sim.Scene
	Buses   []emulatedBus // by name
	Devices *Emulation    // nil: only servos

	plan  *plan.Plan
	hands map[string]*held // by AGENT/JOINT; under mu
}

// EmulateWorld makes the emulated servos of p: every joint that is emulated.
func EmulateWorld(p *plan.Plan) (*EmulatedWorld, error) {
	scene, err := plan.NewScene(p)
	if err != nil {
		return nil, err
	}
	w := &EmulatedWorld{Scene: scene, plan: p}
	for i := range p.Agents {
		if _, err := p.Agents[i].Stand(w.Scene); err != nil {
			return nil, err
		}
	}
	b := w.Builder()
	for _, name := range report.SortedKeys(p.Config.Buses) {
		on := p.On(name, configs.Emulated)
		if len(on) == 0 {
			continue
		}
		// on terminals the buses run concurrently with the scene: all share its lock
		bus, err := b.emulate(name, on, &w.mu)
		if err != nil {
			return nil, err
		}
		w.Buses = append(w.Buses, emulatedBus{name, bus, on})
	}
	return w, nil
}

// Builder returns a builder over the robots of w, without a rig.
func (w *EmulatedWorld) Builder() *Builder {
	b := newBuilder(&System{Scene: w.Scene, Plan: w.plan})
	for i := range w.plan.Agents {
		b.Robots = append(b.Robots, w.Scene.Body(w.plan.Agents[i].Config.Name))
	}
	return b
}

// TimingOf is how a config's line behaves where it is emulated.
func TimingOf(b configs.Bus) emulator.Timing {
	return emulator.Timing{Reply: b.Timing.ServoDelay, Frame: b.Timing.USBFrame, Latency: b.AdapterLatency(),
		Echo: b.Timing.Echo}
}

// Bus returns the bus called name, or nil.
func (w *EmulatedWorld) Bus(name string) *emulator.Bus {
	for _, b := range w.Buses {
		if b.name == name {
			return b.Bus
		}
	}
	return nil
}

// Plant plants a fault that begins now. Its text is the emulator's, preceded by the name of a bus if there are several:
// "off servo 7", "upper: crc bus p=0.1".
func (w *EmulatedWorld) Plant(text string) error {
	var lines []faultLine
	for _, b := range w.Buses {
		lines = append(lines, faultLineOf(b.name, b.Bus))
	}
	return plantFault(text, "emulated ", lines)
}

// faultLine is a line in whose servos faults can be planted.
type faultLine struct {
	name  string
	has   func(id int) bool
	plant func(wire.Fault) error
}

func faultLineOf(name string, b *emulator.Bus) faultLine {
	return faultLine{name, func(id int) bool { return hasServo(b, id) }, b.Fault}
}

// plantFault plants the fault of a text in the lines that it names; kind is that of their servos, in errors.
func plantFault(text, kind string, lines []faultLine) error {
	invalid := func(err error) error {
		return &hal.Error{Kind: hal.Invalid, Op: "--fault " + strconv.Quote(text), Err: err}
	}
	name, rest, named := strings.Cut(text, ":")
	if !named {
		name, rest = "", text
	}
	name = strings.TrimSpace(name)
	f, err := wire.Parse(rest)
	if err != nil {
		return invalid(err)
	}
	var hit []faultLine
	known := false
	for _, l := range lines {
		known = known || l.name == name
		if (!named || l.name == name) && (f.Target == wire.All || l.has(f.Target)) {
			hit = append(hit, l)
		}
	}
	switch {
	case named && !known:
		return invalid(fmt.Errorf("no %sbus %q", kind, name))
	case len(lines) == 0:
		return invalid(fmt.Errorf("faults require %sservos: got none, want --body emulated", kind))
	case len(hit) == 0:
		return invalid(fmt.Errorf("no %sservo has id %d", kind, f.Target))
	case len(hit) > 1 && f.Target != wire.All:
		return invalid(fmt.Errorf("%d buses have a servo %d: put the bus in front, as in \"NAME: %s\"", len(hit),
			f.Target, rest))
	}
	for _, l := range hit {
		if err := l.plant(f); err != nil {
			return invalid(err)
		}
	}
	return nil
}

func hasServo(b *emulator.Bus, id int) bool {
	return slices.ContainsFunc(b.Servos(), func(s *emulator.Servo) bool {
		v, _ := s.Register("id")
		return v == int64(id)
	})
}

// Move lets the scene's time pass with the wall's until ctx ends. It is no control loop: a client sees the world at
// most a pulse old. behind, when not nil, is called at most once in span with the time that the world lost, which it
// did not simulate.
func (w *EmulatedWorld) Move(ctx context.Context, behind func(lost, span time.Duration)) {
	const span, tolerable = 10 * time.Second, 200 * time.Millisecond
	tick := time.NewTicker(pulse) // late ticks do no harm: the elapsed time is measured
	defer tick.Stop()
	last := time.Now()
	since, lost := last, time.Duration(0)
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			passed := now.Sub(last)
			w.Pass(min(passed, longestPulse))
			last = now
			if lost += max(0, passed-longestPulse); now.Sub(since) < span {
				continue
			}
			if behind != nil && lost > tolerable {
				behind(lost, now.Sub(since))
			}
			since, lost = now, 0
		}
	}
}
