package simloid_test

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/internal/serve/servetest"
	"github.com/halyard-robotics/halyard/protocols/osp"
	"github.com/halyard-robotics/halyard/protocols/simloid"
)

const emulatedArm = `name: long
clock: {mode: lockstep, period: 10ms}
world: {scene: flat, seed: 1}
buses: {arm: {type: feetech, baud: 1000000}}
agents:
  - name: so101
    model: so101
    body: emulated
    guard: {on_timeout: hold}
    hardware:
      joints:
        shoulder_pan:  {bus: arm, id: 1, model: sts3215}
        shoulder_lift: {bus: arm, id: 2, model: sts3215}
        elbow_flex:    {bus: arm, id: 3, model: sts3215}
        wrist_flex:    {bus: arm, id: 4, model: sts3215}
        wrist_roll:    {bus: arm, id: 5, model: sts3215}
        gripper:       {bus: arm, id: 6, model: sts3215}
servers:
  - {protocol: %s, listen: "127.0.0.1:0"%s}
`

// usage is what a long run must not raise.
type usage struct {
	heap       uint64 // bytes, after a collection
	goroutines int
	files      int
	p50, p99   time.Duration // of a cycle, as the client sees it
}

func measure(latencies []time.Duration) (u usage) {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	open, _ := os.ReadDir("/proc/self/fd")
	slices.Sort(latencies)
	n := len(latencies)
	return usage{m.HeapAlloc, runtime.NumGoroutine(), len(open), latencies[n/2], latencies[n*99/100]}
}

// TestLong: clients of lock-step protocols on an emulated arm: after a long time its memory, goroutines and files are
// as at the start. HALYARD_LONG is that time of the rig; two hours take minutes:
//
//	HALYARD_LONG=2h go test ./internal/serve/simloid -run TestLong -v -timeout 60m
func TestLong(t *testing.T) {
	span := 20 * time.Second
	if text := os.Getenv("HALYARD_LONG"); text != "" {
		var err error
		if span, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
	}
	for _, protocol := range []string{"simloid", "osp"} {
		t.Run(protocol, func(t *testing.T) {
			agent := ""
			if protocol == "simloid" {
				agent = ", agent: so101"
			}
			cycle := arm(t, fmt.Sprintf(emulatedArm, protocol, agent), protocol)
			const period, sample = 10 * time.Millisecond, 500
			total := int(span / period)
			var latencies []time.Duration
			var first usage
			for k := range total {
				began := time.Now()
				if err := cycle(k); err != nil {
					t.Fatalf("cycle %d: %v", k, err)
				}
				if latencies = append(latencies, time.Since(began)); k == 2*sample-1 {
					first = measure(latencies[sample:])
				}
				if len(latencies) == 2*sample {
					latencies = append(latencies[:0], latencies[sample:]...)
				}
			}
			last := measure(latencies)
			t.Logf("%s, %v of the rig: heap %d to %d KiB, goroutines %d to %d, files %d to %d, p50 %v to %v, p99 %v "+
				"to %v",
				protocol, span, first.heap>>10, last.heap>>10, first.goroutines, last.goroutines, first.files,
				last.files,
				first.p50, last.p50, first.p99, last.p99)
			if last.goroutines > first.goroutines || last.files > first.files || last.heap > first.heap+4<<20 {
				t.Errorf("got more than at the start: %+v after %+v", last, first)
			}
		})
	}
}

// arm serves a config, and returns a client's cycle.
func arm(t *testing.T, text, protocol string) func(k int) error {
	cfg, err := halyard.Parse("long", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	_, servers := servetest.Serve(t, cfg)
	if protocol == "osp" {
		return ospCycle(t, servers[0].Address)
	}
	c, err := simloid.Dial(servers[0].Address, simloid.ClientOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return func(k int) error {
		s, err := c.Cycle(simloid.Command{Verb: simloid.PI, Index: 2, Values: []float64{0.1 * float64(k/200%2)}})
		if want := float64(k+2) * 0.01; err == nil && (s.Time < want-1e-6 || s.Time > want+1e-6) {
			return fmt.Errorf("time: got %g, want %g", s.Time, want)
		}
		return err
	}
}

// ospCycle is one step of the arm's agent.
func ospCycle(t *testing.T, address string) func(k int) error {
	c, err := osp.Dial(address, osp.ClientOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	list, err := c.Overview()
	if err != nil || len(list) != 1 {
		t.Fatalf("agents: got %v, %v, want one", list, err)
	}
	if err := c.Register(list[0].ID); err != nil {
		t.Fatal(err)
	}
	inputs := []float32{0}
	return func(k int) error {
		inputs[0] = 0.1 * float32(k/200%2)
		_, err := c.Step(list[0].ID, inputs)
		return err
	}
}
