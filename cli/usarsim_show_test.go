package cli

import (
	"context"
	"errors"
	"io"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/internal/builtin"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/sim"
	"github.com/halyard-robotics/halyard/sim/model"
)

// towed is a rig's clock that a controller advances: each executed message lets some more time pass, as fast as the
// machine can. So two minutes take seconds, and a busy machine makes the run slow but not wrong.
type towed struct {
	timeout time.Duration // after which time advances by itself, slowly, so that the rig never waits for ever

	mu      sync.Mutex
	changed *sync.Cond
	now     time.Duration
	allowed time.Duration
	parked  bool // the rig waits for more
}

func newTowed() *towed {
	c := &towed{timeout: 500 * time.Millisecond}
	c.changed = sync.NewCond(&c.mu)
	return c
}

func (c *towed) Now() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *towed) SleepUntil(t time.Duration) {
	late := time.AfterFunc(c.timeout, func() { c.allow(t) })
	defer late.Stop()
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.allowed < t {
		c.parked = true
		c.changed.Broadcast()
		c.changed.Wait()
	}
	c.parked = false
	c.now = max(c.now, t)
}

// allow lets time pass until t.
func (c *towed) allow(t time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.allowed = max(c.allowed, t)
	c.parked = false
	c.changed.Broadcast()
}

// tow lets time pass for d from now on.
func (c *towed) tow(d time.Duration) { c.allow(c.Now() + d) }

// pass lets it pass and waits until it has.
func (c *towed) pass(d time.Duration) {
	c.tow(d)
	c.mu.Lock()
	defer c.mu.Unlock()
	for !c.parked {
		c.changed.Wait()
	}
}

// runArena runs "halyard usarsim" with further words of its command line, on a clock of the test's (nil = the wall's),
// until the test ends, and says where Gamebots is.
func runArena(t *testing.T, clock hal.Clock, f usarsimFlags, config ...string) (*assembly.System, string) {
	t.Helper()
	a := &app{in: strings.NewReader(""), out: io.Discard, err: io.Discard}
	f.flags.listen = append(f.flags.listen, "gamebots=127.0.0.1:0", "imageserver=127.0.0.1:0")
	c, err := f.config(a, config)
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.Resolve(c, builtin.Catalog())
	if err != nil {
		t.Fatal(err)
	}
	p.Clock = clock
	st := builtReal(t, p)
	servers, err := assembly.OpenServers(st)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	rigCtx, stop := context.WithCancel(context.Background())
	done := make(chan error, 2)
	go func() {
		done <- servers.Run(ctx, func() {})
		stop()
	}()
	go func() { done <- st.Rig.Run(rigCtx) }()
	t.Cleanup(func() {
		cancel()
		if err := errors.Join(<-done, <-done, st.Close()); err != nil {
			t.Error(err)
		}
	})
	for _, s := range servers.Ready {
		if s.Protocol == "gamebots" {
			return st, s.Address
		}
	}
	t.Fatal("no gamebots server")
	return nil, ""
}

// fence measures the distance from a robot's outline to the obstacles of the arena, seen from above: the ground truth,
// independent of the robot's own sensors.
type fence struct {
	scene   *sim.Scene
	robot   string
	size    [2]float64 // m, length and width
	walls   []wall
	cycles  int
	nearest float64 // m
	where   hal.Pose
	last    hal.Pose
}

// wall is an obstacle as a box about its own axes; what is round counts as the box about it.
type wall struct {
	to   hal.Pose   // from the arena's frame to its own
	half [3]float64 // m
}

func newFence(t *testing.T, st *assembly.System, robot string, length, width float64) *fence {
	t.Helper()
	arena, err := st.Scene.Arena()
	if err != nil {
		t.Fatal(err)
	}
	f := &fence{scene: st.Scene, robot: robot, size: [2]float64{length, width}, nearest: math.Inf(1)}
	for _, s := range arena.Fixed {
		half := s.Half
		if s.Kind != model.Box {
			half[0], half[1] = s.Radius, s.Radius
			if s.Kind != model.Sphere {
				half[2] += s.Radius
			}
		}
		f.walls = append(f.walls, wall{s.Pose.Inverse(), half})
	}
	party := st.Rig.NewSession("fence", f)
	t.Cleanup(party.Close)
	return f
}

// Cycle is the rig's call after each cycle.
func (f *fence) Cycle(*hal.Cycle) {
	body := f.scene.Body(f.robot)
	if f.cycles++; body == nil || f.cycles%5 != 0 {
		return
	}
	at := body.Pose(0)
	f.last = at
	const steps = 12
	for i := -steps; i <= steps; i++ {
		share := float64(i) / steps / 2
		for _, p := range [...][3]float64{{share * f.size[0], f.size[1] / 2}, {share * f.size[0], -f.size[1] / 2},
			{f.size[0] / 2, share * f.size[1]}, {-f.size[0] / 2, share * f.size[1]}} {
			if d := f.away(at.Of(p)); d < f.nearest {
				f.nearest, f.where = d, at
			}
		}
	}
}

// away is how far a point is from the nearest thing, m; below 0 within a box.
func (f *fence) away(p [3]float64) float64 {
	nearest := math.Inf(1)
	for i := range f.walls {
		w := &f.walls[i]
		q := w.to.Of(p)
		out, deepest := 0.0, math.Inf(-1)
		for k := range q {
			d := math.Abs(q[k]) - w.half[k]
			out, deepest = out+max(d, 0)*max(d, 0), max(deepest, d)
		}
		if out > 0 {
			deepest = math.Sqrt(out)
		}
		nearest = min(nearest, deepest)
	}
	return nearest
}

// Show 1: a controller that was written from the manual alone follows the walls of the yellow arena for two minutes
// without a touch, reads a victim's tag and comes back to the start.
func TestUSARSimRescue(t *testing.T) {
	clock := newTowed()
	st, address := runArena(t, clock, usarsimFlags{arena: "yellow"})
	showRescue(t, st, address, clock.tow, 0.4)
}

// showRescue lets the controller do all that in an arena that runs. tow is what it calls when it has obeyed a message,
// nil on a clock that runs by itself; home is how near to the start it must end, m. The same bytes go to every body:
// what differs is the config that was served.
func showRescue(t *testing.T, st *assembly.System, address string, tow func(time.Duration), home float64) {
	t.Helper()
	f := newFence(t, st, "Rescuer", 0.5, 0.49)
	r, err := rescue(address, tow)
	if err != nil {
		t.Fatalf("after %.1f s at %.2f: %v", r.time-r.began, r.at, err)
	}
	// A cycle may be at work.
	st.Rig.BetweenCycles(func() {
		t.Logf("followed walls for %.1f s, read %q, was back after %.1f s and %.1f m; nothing was nearer than %.3f "+
			"m (at %.2f)",
			r.followed, r.victim, r.time-r.began, r.way, f.nearest, f.where.Position)
		if f.nearest < 0.02 {
			t.Errorf("came as near as %.3f m to something, at %.2f: want no touch", f.nearest, f.where.Position)
		}
		if p := f.last.Position; math.Hypot(p[0]-4.5, p[1]+1.9) > home {
			t.Errorf("ended at %.2f, want the start", p)
		}
	})
	if r.followed < 120 || r.victim == "" {
		t.Errorf("followed walls for %.1f s and read victim %q, want two minutes and one", r.followed, r.victim)
	}
}
