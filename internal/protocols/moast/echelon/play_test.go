package echelon

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/halyard-robotics/halyard/internal/protocols/moast"
)

// rover is a skid-steered vehicle that rolls without slip among boxes: wheels of 0.1 m, 0.5 m apart.
type rover struct {
	stopped  error
	blocked  bool // by a wall: its wheels turn, and it stays
	at       place
	rates    [2]float64
	time     float64
	boxes    [][4]float64 // x, y, x, y
	released int
	drives   int
	nearest  float64 // m, of the middle to a box, so far
	blind    bool
	steer    moast.Steer
	flips    bool
	car      [3]float64 // speed, angle, crab
	slide    [3]float64
	links    []moast.LinkStat
	kinds    []moast.LinkCmd
	flippers []moast.Flipper
	operated []string
	placed   moast.Pose
	given    []int   // parts released
	every    float64 // s between two scans; 0 = always
	scan     Scan    // the last
}

func (r *rover) Drive(left, right float64) error {
	r.rates, r.drives = [2]float64{left, right}, r.drives+1
	return nil
}
func (r *rover) Steer(speed, angle, crab float64) error {
	r.car, r.drives = [3]float64{speed, angle, crab}, r.drives+1
	return nil
}
func (r *rover) Slide(ahead, right, turn float64) error {
	r.slide, r.drives = [3]float64{ahead, right, turn}, r.drives+1
	return nil
}
func (r *rover) Flip(f []moast.Flipper) error {
	if !r.flips && len(f) > 0 {
		return errors.New("no flippers")
	}
	r.flippers = f
	return nil
}
func (r *rover) Move(pack int, links []moast.LinkCmd) error {
	if pack != 0 {
		return fmt.Errorf("no package %d", pack)
	}
	r.kinds = append([]moast.LinkCmd(nil), links...)
	return nil
}
func (r *rover) Operate(effector, opcode int32, param float64) error {
	if effector != 1 {
		return fmt.Errorf("no effector %d", effector)
	}
	r.operated = append(r.operated, fmt.Sprint(opcode, " ", param))
	return nil
}
func (r *rover) Place(to moast.Pose) error { r.placed = to; return nil }
func (r *rover) Ready() error              { return r.stopped }
func (r *rover) Release(part int) {
	r.given = append(r.given, part)
	if part == Mobility {
		r.released++
	}
}
func (r *rover) Describe() Description {
	return Description{Platform: "rover", Steer: r.steer, WheelBase: 0.4, MaxSteer: 0.6,
		Effectors: []string{"headlight"},
		Packages: []Package{{Name: "arm", Links: []moast.LinkSet{{Link: 1, MinRange: -1, MaxRange: 1},
			{Link: 2, MinRange: 0, MaxRange: 2}}}},
		Length: 0.5, Width: 0.5, Height: 0.3, Mass: 10, WheelRadius: 0.1, WheelSeparation: 0.5, MaxWheelSpeed: 10}
}

// step lets dt pass.
func (r *rover) step(dt float64) {
	v, w := (r.rates[0]+r.rates[1])*0.1/2, (r.rates[0]-r.rates[1])*0.1/0.5
	switch r.steer {
	case moast.AckermanSteer:
		v, w = r.car[0], r.car[0]*math.Tan(r.car[1])/0.4
	case moast.OmniSteer:
		v, w = r.slide[0], r.slide[2]
	}
	if r.blocked {
		v, w = 0, 0
	}
	for i, l := range r.kinds { // links move at 1 rad/s
		for len(r.links) <= i {
			r.links = append(r.links, moast.LinkStat{Link: int32(i + 1)})
		}
		at := &r.links[i].Value
		if l.Kind == moast.LinkPosition {
			*at += clamp(l.Value-*at, dt)
		} else {
			*at += l.Value * dt
		}
	}
	r.at.x += v * dt * math.Cos(r.at.yaw)
	r.at.y += v * dt * math.Sin(r.at.yaw)
	r.at.yaw = wrap(r.at.yaw + w*dt)
	r.time += dt
	for _, b := range r.boxes {
		dx := math.Max(0, math.Max(b[0]-r.at.x, r.at.x-b[2]))
		dy := math.Max(0, math.Max(b[1]-r.at.y, r.at.y-b[3]))
		r.nearest = math.Min(r.nearest, math.Hypot(dx, dy))
	}
}

// ray is the distance from a point to the nearest box, at most 8 m.
func (r *rover) ray(x, y, angle float64) float64 {
	sin, cos := math.Sincos(angle)
	best := 9.0
	for _, b := range r.boxes {
		near, far := 0.0, 9.0
		for _, axis := range [][4]float64{{x, cos, b[0], b[2]}, {y, sin, b[1], b[3]}} {
			if math.Abs(axis[1]) < 1e-12 {
				if axis[0] < axis[2] || axis[0] > axis[3] {
					far = -1
				}
				continue
			}
			t0, t1 := (axis[2]-axis[0])/axis[1], (axis[3]-axis[0])/axis[1]
			near, far = max(near, min(t0, t1)), min(far, max(t0, t1))
		}
		if near <= far {
			best = min(best, near)
		}
	}
	return best
}

func (r *rover) Observe(o *Observation) {
	o.Time, o.Volts, o.Charge, o.Steered, o.Flippers, o.Lit = r.time, 12, 0.5, r.car[1], r.flippers, len(r.operated) > 0
	o.Links = [][]moast.LinkStat{append([]moast.LinkStat(nil), r.links...)}
	if r.blind {
		o.Absolute.Tran.X = math.NaN()
		return
	}
	o.Absolute = moast.Motion{Tran: moast.Cartesian{X: 100 + r.at.x, Y: 200 + r.at.y}, RPY: moast.RPY{Y: r.at.yaw}}
	o.Odometry = moast.Motion{Tran: moast.Cartesian{X: r.at.x, Y: r.at.y}, RPY: moast.RPY{Y: r.at.yaw}}
	sonarX, sonarY := r.at.of(0.2, 0)
	o.Sonars = append(o.Sonars[:0],
		Range{Mount: Mount(0.2, 0, 0, 0), Time: r.time, Range: r.ray(sonarX, sonarY, r.at.yaw), MaxRange: 5})
	o.Kinds, o.Values = []moast.SensorKind{moast.Odometer}, [][]float64{{r.at.x, r.at.y, r.at.yaw}}
	if r.scan.Ranges == nil || r.time >= r.scan.Time+r.every {
		r.scan = r.look()
	}
	o.Scans = append(o.Scans[:0], r.scan)
}

// look scans.
func (r *rover) look() Scan {
	const rays = 181
	scan := Scan{Mount: Mount(0.1, 0, -0.3, 0), Time: r.time, Start: math.Pi / 2, Increment: -math.Pi / (rays - 1),
		MaxRange: 8}
	sx, sy := r.at.of(0.1, 0)
	for i := range rays {
		scan.Ranges = append(scan.Ranges, r.ray(sx, sy, r.at.yaw+scan.Start+float64(i)*scan.Increment))
	}
	return scan
}

// superior is a test's hand on one module.
type superior struct {
	t         *testing.T
	h         *Hierarchy
	rover     *rover
	module    *moast.Module
	serial    int32
	subsystem int
	now       *float64
	mute      bool   // it reads no status
	other     func() // another vehicle's step; nil = none
}

func newRover() *rover { return &rover{nearest: math.Inf(1)} }

// start is a hierarchy on r, and a hand on a module of it.
func start(t *testing.T, r *rover, module string, levels ...Level) *superior {
	t.Helper()
	h, err := New(r, Options{Levels: levels})
	if err != nil {
		t.Fatal(err)
	}
	s := &superior{t: t, h: h, rover: r, module: moast.ModuleNamed(module), now: new(float64), serial: 10}
	s.pass(0.05)
	return s
}

// over is a hand on another module of the same hierarchy.
func (s *superior) over(module string) *superior {
	other := *s
	other.module = moast.ModuleNamed(module)
	return &other
}

// pass lets so much time pass.
func (s *superior) pass(seconds float64) {
	s.t.Helper()
	for range int(math.Round(seconds / tick)) {
		*s.now += tick
		if err := s.h.Step(*s.now); err != nil {
			s.t.Fatal(err)
		}
		if !s.mute {
			s.stat()
		}
		s.rover.step(tick)
		if s.other != nil {
			s.other()
		}
	}
}

func (s *superior) stat() *moast.StatHead {
	b := s.h.Buffer(s.module.Buffer(moast.Stat, 1, s.subsystem))
	if b == nil {
		return &moast.StatHead{} // before a test has chosen its subsystem
	}
	m, _, err := b.Read(moast.New, 0)
	if err != nil {
		s.t.Fatalf("%s: status: %v", s.module.Name, err)
	}
	return m.(moast.Reporter).Report()
}

// send sends a command under a new serial number.
func (s *superior) send(c moast.Command) {
	s.t.Helper()
	s.serial++
	s.change(c)
}

func (s *superior) change(c moast.Command) {
	s.t.Helper()
	c.Head().Serial = s.serial
	if err := s.h.Buffer(s.module.Buffer(moast.Cmd, 1, s.subsystem)).Write(c); err != nil {
		s.t.Fatal(err)
	}
}

// plain sends a command without fields.
func (s *superior) plain(name string) {
	s.t.Helper()
	s.send(&moast.Plain{Kind: s.module.ID(moast.Cmd, name)})
}

// until lets time pass until the command has ended, at most limit s, and checks how.
func (s *superior) until(limit float64, want moast.Status) *moast.StatHead {
	s.t.Helper()
	for end := *s.now + limit; *s.now < end; {
		s.pass(tick)
		if h := s.stat(); h.EchoSerial == s.serial && h.Status != moast.Exec {
			if h.Status != want || h.State != moast.S0 {
				s.t.Errorf("%s: got %v %q in state %d, want %v", moast.Symbol(h.CommandType), h.Status, h.Message,
					h.State, want)
			}
			return h
		}
	}
	h := s.stat()
	s.t.Errorf("%s: got %v %q after %g s, want %v", moast.Symbol(h.CommandType), h.Status, h.Message, limit, want)
	return h
}

func (s *superior) init() {
	s.t.Helper()
	s.plain("Init")
	s.until(3, moast.Done)
}
