package halyard_test

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/hal"
)

func batchOf(t testing.TB, name string, copies int, settings ...halyard.Setting) *halyard.Batch {
	t.Helper()
	cfg, err := halyard.Load(name, settings...)
	if err != nil {
		t.Fatal(err)
	}
	b, err := halyard.OpenBatch(cfg, halyard.BatchOptions{Copies: copies, Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// wave is the goals of step n: each joint of each copy its own.
func wave(b *halyard.Batch, n int, actions []float64) {
	k := len(b.Actions())
	for i := range actions {
		actions[i] = 0.3 * math.Sin(float64(n)*0.05+float64(i/k)+float64(i%k)*0.7)
	}
}

// trace is all that a batch measures on the way.
func trace(t testing.TB, b *halyard.Batch, steps int) []float64 {
	t.Helper()
	actions, seen := make([]float64, b.Copies()*len(b.Actions())), make([]float64, b.Copies()*len(b.Observations()))
	var all []float64
	if err := b.Reset(nil, nil, seen); err != nil {
		t.Fatal(err)
	}
	all = append(all, seen...)
	for n := range steps {
		wave(b, n, actions)
		if err := b.Step(actions, seen); err != nil {
			t.Fatal(err)
		}
		all = append(all, seen...)
	}
	return all
}

func same(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) })
}

// Copies give the same bits as single rigs with their seeds, on one core and on several, simulated and emulated.
func TestBatchIsItsCopies(t *testing.T) {
	for _, c := range []struct {
		config, body string
	}{{"so101", "sim"}, {"so101", "emulated"}, {"a-series", "sim"}} {
		set := halyard.Set("agents[0].body", c.body)
		var traces [][]float64
		for _, cores := range []int{1, 4} {
			old := runtime.GOMAXPROCS(cores)
			traces = append(traces, trace(t, batchOf(t, c.config, 5, set), 40))
			runtime.GOMAXPROCS(old)
		}
		if !same(traces[0], traces[1]) {
			t.Errorf("%s, %s: other values on several cores", c.config, c.body)
		}
		// Copy 3 as a system of its own.
		sys := open(t, c.config, set, halyard.Set("world.seed", 8))
		one := batchOf(t, c.config, 5, set)
		agent := sys.Agents()[0]
		layout := agent.Layout()
		actions := make([]float64, 5*len(one.Actions()))
		rows := len(one.Observations())
		for n := range 40 {
			wave(one, n, actions)
			for i := range layout.Actuators {
				if err := agent.Command(layout.Actuators[i].Name,
					halyard.Position(actions[3*len(one.Actions())+i])); err != nil {
					t.Fatal(err)
				}
			}
			steps(t, sys, 1)
			for i := range layout.Actuators {
				a := &layout.Actuators[i]
				if got, want := traces[0][((n+1)*5+3)*rows+a.Position],
					agent.State(a.Name).Position; math.Float64bits(got) != math.Float64bits(want) {
					t.Fatalf("%s, %s: step %d: %s: got %v, want %v as alone", c.config, c.body, n, a.Name, got, want)
				}
			}
		}
	}
}

// Single copies are reset, by seeds; the others go on.
func TestBatchReset(t *testing.T) {
	b := batchOf(t, "pendulum", 3)
	rows := len(b.Observations())
	actions, seen := make([]float64, 3*len(b.Actions())), make([]float64, 3*rows)
	start := make([]float64, 3*rows)
	if err := b.Reset(nil, nil, start); err != nil {
		t.Fatal(err)
	}
	for n := range 30 {
		wave(b, n, actions)
		if err := b.Step(actions, seen); err != nil {
			t.Fatal(err)
		}
	}
	before := slices.Clone(seen)
	if err := b.Reset([]bool{false, true, false}, []int64{0, 6, 0}, seen); err != nil {
		t.Fatal(err)
	}
	if !same(seen[rows:2*rows], start[rows:2*rows]) || !same(seen[:rows], before[:rows]) ||
		!same(seen[2*rows:], before[2*rows:]) {
		t.Errorf("got %v, want copy 1 at its start, the others as before", seen)
	}
	for what, err := range map[string]error{"marks": b.Reset([]bool{true}, nil, seen),
		"observations": b.Step(actions, seen[1:]), "actions": b.Step(nil, seen)} {
		if hal.KindOf(err) != hal.Invalid {
			t.Errorf("too few %s: got %v, want an invalid call", what, err)
		}
	}
}

func TestBatchRefuses(t *testing.T) {
	for _, c := range []struct {
		name, config string
		set          []halyard.Setting
		o            halyard.BatchOptions
		want         string
	}{
		{"none", "pendulum", nil, halyard.BatchOptions{}, "got 0 copies"},
		{"too many", "pendulum", nil, halyard.BatchOptions{Copies: 1 << 20}, "want 1..65536"},
		{"an unknown column", "so101", nil, halyard.BatchOptions{Copies: 1, Actions: []string{"elbow"}},
			`got "elbow", want one of shoulder_pan/position`},
	} {
		cfg, err := halyard.Load(c.config, c.set...)
		if err != nil {
			t.Fatal(err)
		}
		b, err := halyard.OpenBatch(cfg, c.o)
		if err == nil {
			b.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}

// A second Close has no effect, as that of a System.
func TestBatchClosesTwice(t *testing.T) {
	b := batchOf(t, "xm430-arm", 2)
	for range 2 {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestBatchAllocatesNothing(t *testing.T) {
	b := batchOf(t, "so101", 4)
	actions, seen := make([]float64, 4*len(b.Actions())), make([]float64, 4*len(b.Observations()))
	n := 0
	step := func() {
		wave(b, n, actions)
		n++
		if err := b.Step(actions, seen); err != nil {
			t.Fatal(err)
		}
	}
	for range 50 {
		step()
	}
	if got := testing.AllocsPerRun(100, step); got != 0 {
		t.Errorf("got %g allocations a step, want none", got)
	}
}

// Two pendulums with seeds of their own swing up together.
func ExampleOpenBatch() {
	cfg, err := halyard.Load("pendulum")
	if err != nil {
		fmt.Println(err)
		return
	}
	batch, err := halyard.OpenBatch(cfg, halyard.BatchOptions{Copies: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer batch.Close()
	actions, seen := make([]float64, 2*len(batch.Actions())), make([]float64, 2*len(batch.Observations()))
	for range 200 {
		for i := range actions {
			actions[i] = 0.5
		}
		if err := batch.Step(actions, seen); err != nil {
			fmt.Println(err)
			return
		}
	}
	fmt.Println(batch.Copies(), "copies,", batch.Actions()[0].Name, "in", batch.Actions()[0].Unit)
	// Output: 2 copies, joint/position in rad
}

func BenchmarkBatch(b *testing.B) {
	for _, robot := range []string{"pendulum", "so101", "a-series"} {
		for _, copies := range []int{1, 64, 1024} {
			b.Run(fmt.Sprintf("%s/%d", robot, copies), func(b *testing.B) {
				batch := batchOf(b, robot, copies)
				actions, seen := make([]float64, copies*len(batch.Actions())),
					make([]float64, copies*len(batch.Observations()))
				n := 0
				for b.Loop() {
					wave(batch, n, actions)
					n++
					if err := batch.Step(actions, seen); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(copies)*float64(b.N)/b.Elapsed().Seconds(), "copy-steps/s")
			})
		}
	}
}
