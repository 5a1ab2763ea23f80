package main

import (
	"bytes"
	"encoding/json"
	"math"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/cmd/halyard-lab/internal/lab"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/internal/bench"
	"github.com/halyard-robotics/halyard/internal/command"
	"github.com/halyard-robotics/halyard/protocols"
	"github.com/halyard-robotics/halyard/protocols/osp"
	"github.com/halyard-robotics/halyard/sim/model"
)

// tiny makes every benchmark run through in a moment; its figures mean nothing.
func tiny() bench.Size { return bench.Size{Steps: 20, Time: 20 * time.Millisecond} }

// Each benchmark, run as a shell would, prints JSON lines of the documented form and nothing else.
func TestBenchLines(t *testing.T) {
	t.Parallel()
	for name, cases := range map[string]int{"cycle": 3, "clock": 2, "wire": 23, "osp": 3, "batch": 12, "simloid": 2,
		"drivers": 157, "configs": len(configs.Names()) - 1, "okon": 8, "gamebots": 5} {
		t.Run(name, func(t *testing.T) {
			steps := "20"
			if name == "batch" {
				steps = "64" // a step of each copy
			}
			code, out, errText := runApp(t, "bench", name, "--steps", steps, "--seconds", "0.02", "-o", "jsonl")
			if code != 0 {
				t.Fatalf("exit %d: %s", code, errText)
			}
			lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
			if len(lines) != cases {
				t.Errorf("got %d lines, want %d", len(lines), cases)
			}
			seen := map[string]bool{}
			for _, line := range lines {
				var r struct {
					Bench, Case string
					Figures     map[string]float64
				}
				d := json.NewDecoder(strings.NewReader(line))
				d.DisallowUnknownFields()
				if err := d.Decode(&r); err != nil {
					t.Fatalf("%s: %v", line, err)
				}
				if r.Bench != name || r.Case == "" || seen[r.Case] || len(r.Figures) < 3 ||
					strings.Contains(line, "null") {
					t.Errorf("got %s", line)
				}
				seen[r.Case] = true
			}
		})
	}
}

// The line that scripts rely on, byte for byte, and the same for people.
func TestResultForm(t *testing.T) {
	var out bytes.Buffer
	format := "jsonl"
	h := &command.Host{Out: &out, Format: &format}
	list := []bench.Result{
		{Bench: "osp", Case: "1 agent", Figures: bench.Figures{{Name: "steps_per_s", Value: 12345.5},
			{Name: "bound_per_s", Value: 20000}, {Name: "ratio", Value: 0.617}}},
		{Bench: "osp", Case: "2 agents", Figures: bench.Figures{{Name: "steps_per_s", Value: 1},
			{Name: "bound_per_s", Value: 2}, {Name: "ratio", Value: 0.5}}},
		{Bench: "clock", Case: "alone", Figures: bench.Figures{{Name: "max_us", Value: 3}}},
	}
	if err := bench.ShowResults(h, list); err != nil {
		t.Fatal(err)
	}
	want := `{"bench":"osp","case":"1 agent","figures":{"steps_per_s":12345.5,"bound_per_s":20000,"ratio":0.617}}` +
		"\n"
	if !strings.HasPrefix(out.String(), want) {
		t.Errorf("got %s\nwant %s", out.String(), want)
	}
	out.Reset()
	format = "table"
	if err := bench.ShowResults(h, list); err != nil {
		t.Fatal(err)
	}
	want = "BENCH  CASE      STEPS_PER_S  BOUND_PER_S  RATIO\n" +
		"osp    1 agent   12346        20000        0.617\n" +
		"osp    2 agents  1            2            0.5\n" +
		"\n" +
		"BENCH  CASE   MAX_US\n" +
		"clock  alone  3\n" +
		"\n"
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

func TestBenchRefuses(t *testing.T) {
	for _, args := range [][]string{
		{"bench", "speed"}, {"bench", "cycle", "wire"}, {"bench", "--steps", "-1"}, {"bench", "--seconds", "0"},
		{"bench", "--seconds", "NaN"}, {"bench", "cycle", "--all"},
	} {
		if code, out, _ := runApp(t, args...); code != 2 || out != "" {
			t.Errorf("%v: got exit %d and %q, want 2 and nothing", args, code, out)
		}
	}
}

// The cycle allocates nothing, on a stub body and with the physics of the simulation.
func TestCycleAllocatesNothing(t *testing.T) {
	for _, robot := range []string{"a-series", "pendulum"} {
		for _, stub := range []bool{true, false} {
			s := newTestStepper(t, robot, stub)
			if n := testing.AllocsPerRun(200, func() { s.Step() }); n != 0 {
				t.Errorf("%s, stub %t: got %g allocations a cycle, want 0", robot, stub, n)
			}
			if s.Seen == 0 {
				t.Errorf("%s, stub %t: the observer has seen nothing move", robot, stub)
			}
		}
	}
}

func newTestStepper(t testing.TB, robot string, stub bool) *lab.Stepper {
	t.Helper()
	m, err := model.Load(robot)
	if err != nil {
		t.Fatal(err)
	}
	s, err := lab.NewStepper(m, stub)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// In virtual time the figures are the same on every machine, so here they are held to.
func TestWireMeetsItsBounds(t *testing.T) {
	found := map[string]bench.Figures{}
	if err := bench.Wire(t.Context(), tiny(), func(r bench.Result) { found[r.Case] = r.Figures }); err != nil {
		t.Fatal(err)
	}
	for name, f := range found {
		if f.Get("model_hz") > f.Get("wire_hz") {
			t.Errorf("%s: %g Hz is more than the wire can carry, %g", name, f.Get("model_hz"), f.Get("wire_hz"))
		}
		if strings.HasSuffix(name, "QUADDXL") && math.Abs(f.Get("error")) > 0.06 {
			t.Errorf("%s: off by %g, want at most 0.06: the column that the reply time is fitted to", name,
				f.Get("error"))
		}
	}
	if got := found["cells within 10 %"].Get("within"); got < bench.BoundCells {
		t.Errorf("got %g cells within 10 %%, want %d", got, bench.BoundCells)
	}
	if got := found["1 Mbaud, 1 bus, fast sync read"].Get("model_hz"); got < bench.BoundFast {
		t.Errorf("fast sync read: got %g Hz, want %d", got, bench.BoundFast)
	}
}

// The tape costs the chain nothing that a real line would not: no allocation, and the states stay fresh.
func TestHostCycleAllocatesNothing(t *testing.T) {
	w, err := bench.NewWire(bench.WireServos(), 1_000_000, true)
	if err != nil {
		t.Fatal(err)
	}
	w.Tape.Play()
	if n := testing.AllocsPerRun(100, func() { w.Cycle() }); n != 0 {
		t.Errorf("got %g allocations a cycle, want 0", n)
	}
	for i := range bench.WireServos() {
		if s := w.Chain.State(i); s.Err != nil || s.Position != 2048 {
			t.Errorf("servo %d: got %g, %v", i+1, s.Position, s.Err)
		}
	}
}

// ears is a socket that notes how long the datagrams of steps are.
type ears struct {
	protocols.PacketConn
	mu      *sync.Mutex
	lengths map[osp.Command]int
}

func (e *ears) note(b []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lengths[osp.Command(b[0])] = len(b)
}

func (e *ears) ReadFromUDPAddrPort(b []byte) (int, netip.AddrPort, error) {
	n, from, err := e.PacketConn.ReadFromUDPAddrPort(b)
	if err == nil && n > 0 {
		e.note(b[:n])
	}
	return n, from, err
}

func (e *ears) WriteToUDPAddrPort(b []byte, to netip.AddrPort) (int, error) {
	e.note(b)
	return e.PacketConn.WriteToUDPAddrPort(b, to)
}

// The bare datagrams are as long as those of a real step.
func TestBareLengthsAreThoseOfAStep(t *testing.T) {
	r, err := lab.NewOSPRig(t.Context(), []string{"a-series"})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	c := r.Clients[0]
	if err := c.Client.Close(); err != nil {
		t.Fatal(err)
	}
	heard := &ears{mu: new(sync.Mutex), lengths: map[osp.Command]int{}}
	c.Client, err = osp.Dial(r.Address,
		osp.ClientOptions{Listen: func(at netip.AddrPort) (protocols.PacketConn, error) {
			heard.PacketConn, err = protocols.ListenUDP(at)
			return heard, err
		}})
	if err != nil {
		t.Fatal(err)
	}
	list, err := c.Client.Overview()
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	c.Agent = list[0].ID
	if err := c.Client.Register(c.Agent); err != nil {
		t.Fatal(err)
	}
	if err := c.Steps(3); err != nil {
		t.Fatal(err)
	}
	var got [4]int
	for i, command := range []osp.Command{osp.NextStep, osp.NextStepAck, osp.StepCompleted, osp.StepCompletedAck} {
		got[i] = heard.lengths[command]
	}
	if got != c.Bare.Lengths {
		t.Errorf("on the wire %v, bare %v", got, c.Bare.Lengths)
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{{[]float64{3}, 3}, {[]float64{9, 1, 2}, 2}, {[]float64{4, 1, 2, 100}, 3}} {
		if got := bench.Median(slices.Clone(c.values)); got != c.want {
			t.Errorf("%v: got %g, want %g", c.values, got, c.want)
		}
	}
	if m := bench.Median(nil); m == m {
		t.Errorf("of nothing: got %g, want no number", m)
	}
}

func BenchmarkCycle(b *testing.B) {
	for _, c := range []struct {
		name, robot string
		stub        bool
	}{{"stub", "a-series", true}, {"a-series", "a-series", false}, {"pendulum", "pendulum", false}} {
		b.Run(c.name, func(b *testing.B) {
			s := newTestStepper(b, c.robot, c.stub)
			b.ReportAllocs()
			for b.Loop() {
				s.Step()
			}
			rig := b.Elapsed() - s.Physics.Spent
			b.ReportMetric(float64(rig)/float64(b.N)/float64(lab.BoundCycle), "of-bound")
		})
	}
}

// BenchmarkClock runs b.N periods of the real-time loop.
func BenchmarkClock(b *testing.B) {
	for _, c := range []struct {
		name string
		busy int
	}{{"alone", 0}, {"busy", 4}} {
		b.Run(c.name, func(b *testing.B) {
			f, err := bench.ClockCase(b.Context(), c.busy, time.Duration(b.N)*bench.ClockPeriod)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(f.Get("p99_us"), "p99-us")
			b.ReportMetric(f.Get("ratio"), "of-bound")
		})
	}
}

func BenchmarkWire(b *testing.B) {
	for _, fast := range []bool{false, true} {
		b.Run(map[bool]string{false: "sync", true: "fast"}[fast], func(b *testing.B) {
			w, err := bench.NewWire(bench.WireServos(), 1_000_000, fast)
			if err != nil {
				b.Fatal(err)
			}
			hz, err := w.Rate(b.Context(), 50)
			if err != nil {
				b.Fatal(err)
			}
			w.Tape.Play()
			b.ReportAllocs()
			for b.Loop() {
				w.Cycle()
			}
			b.ReportMetric(hz/w.Bound(), "of-wire")
			b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(bench.BoundHost), "of-bound")
		})
	}
}

func BenchmarkOSP(b *testing.B) {
	for name, robots := range map[string][]string{
		"pendulum": {"pendulum"}, "humanoid": {"a-series"}, "two": {"pendulum", "pendulum"},
	} {
		b.Run(name, func(b *testing.B) {
			f, err := lab.RunOSP(b.Context(), robots, name == "humanoid", b.N)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(f.Get("steps_per_s"), "steps/s")
			b.ReportMetric(f.Get("ratio"), "of-bound")
		})
	}
}

// The two robots that "bench simloid" compares do the same to the bit: what stands between a client and the physics
// changes nothing of it.
func TestSimloidBenchTwins(t *testing.T) {
	b, err := lab.NewSimloidBench(t.Context(), 31)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { must(t, b.Close()) }()
	for range 3 {
		for range 100 {
			must(t, b.Cycle())
			must(t, b.Physics())
		}
		l, s := b.Twin.Bodies[0].Layout(), b.Client.Status()
		for i, k := 0, 0; i < len(l.Sensors); i++ {
			if l.Sensors[i].Kind != "body" {
				continue
			}
			for axis, at := range s.Bodies[k].Position {
				if want := b.Frame.Measured[l.Sensors[i].First+axis]; math.Abs(at-want) > 5.1e-7 { // six decimals
					t.Fatalf("body %d: got %v, want %v", k, s.Bodies[k].Position,
						b.Frame.Measured[l.Sensors[i].First:][:3])
				}
			}
			k++
		}
	}
}
