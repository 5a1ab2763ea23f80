package dynamics_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/hal/haltest"
	"github.com/halyard-robotics/halyard/internal/sim/peers"
)

// bits returns the hashes of states that all parts of the engine had a hand in, by name: chains for the factorisation
// and the recursion, contacts, stops, loops, followed joints, and random robots with every kind of joint and shape.
func bits(t *testing.T) map[string]uint64 {
	hashes := map[string]uint64{}
	for _, in := range both {
		for _, n := range []int{2, 10, 40} {
			s := chain(t, n, in)
			steps(t, s, 500, 1e-3)
			hashes[named(fmt.Sprintf("chain %d", n), in)] = s.Hash()
		}
		spec := peers.Quad()
		spec.Options.Integrator = in
		s := system(t, spec)
		s.Before = peers.Squat
		steps(t, s, 500, 1e-3)
		hashes[named("quad", in)] = s.Hash()
		list := run(t, busy(t, in), 200)
		hashes[named("everything at once", in)] = list[len(list)-1]
	}
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 32))
		spec := anything(r, 2+int(seed%9))
		for i := range spec.Bodies {
			// What makes the robots may itself be fused: its rounding is taken off.
			for k := range spec.Bodies[i].Inertia {
				x := &spec.Bodies[i].Inertia[k]
				*x = math.Round(float64(*x*(1<<40))) / (1 << 40)
			}
		}
		s := system(t, spec)
		for i := range s.Tau {
			s.Tau[i] = 4*r.Float64() - 2
		}
		for range 100 {
			if s.Step(2e-3) != nil {
				break
			}
		}
		hashes[fmt.Sprintf("random robot %d", seed)] = s.Hash()
	}
	return hashes
}

// TestPlanBits prints the hashes; TestPlanLevels reads them.
func TestPlanBits(t *testing.T) {
	for name, h := range bits(t) {
		t.Logf("bits of %s: %016x", name, h)
	}
}

// The same tests, compiled for the oldest and for a newer amd64, come to the same bits: GOAMD64=v3 lets the compiler
// fuse a product with a sum. An older processor has no v3.
func TestPlanLevels(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skipf("GOAMD64 is not of %s", runtime.GOARCH)
	}
	want := bits(t)
	line := regexp.MustCompile(`bits of (.*): ([0-9a-f]{16})`)
	for _, level := range haltest.Sample([]string{"v3"}, []string{"v1", "v3"}) {
		program := filepath.Join(t.TempDir(), "level.test")
		build := exec.Command("go", "test", "-c", "-vet=off", "-o", program, ".")
		build.Env = append(os.Environ(), "GOAMD64="+level, "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("go test -c: %v: %s", err, out)
		}
		out, err := exec.Command(program, "-test.v", "-test.run=^TestPlanBits$").CombinedOutput()
		if strings.Contains(string(out), "microarchitecture support") {
			t.Skipf("this processor has no %s", level)
		}
		if err != nil {
			t.Fatalf("%s: %v: %s", level, err, out)
		}
		seen := 0
		for _, m := range line.FindAllSubmatch(out, -1) {
			seen++
			if got := fmt.Sprintf("%016x", want[string(m[1])]); got != string(m[2]) {
				t.Errorf("%s: %s: got state %s, want %s", level, m[1], m[2], got)
			}
		}
		if seen != len(want) {
			t.Errorf("%s: got %d states, want %d", level, seen, len(want))
		}
		t.Logf("GOAMD64=%s: %d of %d states compared, want the same bits", level, seen, len(want))
	}
}

// TestPlanFuse reads the code that the compiler makes for a processor with fused multiply-add, which must not be in a
// step, here and in the packages below. Halves, quarters and eighths may be fused: nothing of them is rounded away.
func TestPlanFuse(t *testing.T) {
	build := exec.Command("go", "build", "-gcflags=github.com/halyard-robotics/halyard/sim/...=-S", ".")
	build.Env = append(os.Environ(), "GOARCH=arm64", "CGO_ENABLED=0")
	code, err := build.CombinedOutput()
	if err != nil {
		t.Fatalf("go build: %v", err)
	}
	if !bytes.Contains(code, []byte("FMULD")) {
		t.Fatal("no code to read")
	}
	fused := regexp.MustCompile(`\((\S+):(\d+)\)\s+FN?M(ADD|SUB)D`)
	exact := regexp.MustCompile(`/\s*[248]\b`)
	found := 0
	for _, m := range fused.FindAllStringSubmatch(string(code), -1) {
		line, err := strconv.Atoi(m[2])
		if err != nil {
			t.Fatal(err)
		}
		// With -trimpath, the paths begin with the module's.
		path := strings.Replace(m[1], "github.com/halyard-robotics/halyard/sim/", "../", 1)
		source, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Split(string(source), "\n")[line-1]
		// What check.go computes decides whether a spec is taken, and is in no state.
		if filepath.Base(m[1]) == "check.go" || exact.MatchString(text) {
			continue
		}
		found++
		t.Errorf("%s:%d: a product is not rounded before it is added: %s", filepath.Base(m[1]), line,
			strings.TrimSpace(text))
	}
	t.Logf("arm64: %d fused products that round otherwise, want 0", found)
}

// The hashes of 300 steps with everything in them, over runs, processors, and from a state that was saved.
func TestPlanDeterminism(t *testing.T) {
	for _, in := range both {
		want := run(t, busy(t, in), 300)
		for _, n := range []int{1, 2, 8} {
			before := runtime.GOMAXPROCS(n)
			got := run(t, busy(t, in), 300)
			runtime.GOMAXPROCS(before)
			same(t, fmt.Sprintf("GOMAXPROCS %d", n), want, got)
		}
		s := busy(t, in)
		run(t, s, 100)
		saved := s.NewState()
		if err := s.Save(saved); err != nil {
			t.Fatal(err)
		}
		run(t, s, 50)
		if err := s.Restore(saved); err != nil {
			t.Fatal(err)
		}
		same(t, "restored", want[100:], run(t, s, 200))
		t.Logf("%s: state %016x after 300 steps in 4 runs, GOMAXPROCS 1, 2 and 8, and from a saved one: want the same",
			named("determinism", in), want[299])
	}
}
