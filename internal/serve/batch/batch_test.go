package batch_test

import (
	"math"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/serve/servetest"
	"github.com/halyard-robotics/halyard/protocols/batch"
)

// serve runs a config with a batch server until the test ends.
func serve(t *testing.T, config string, settings ...halyard.Setting) (address string, sys *halyard.System) {
	t.Helper()
	cfg, err := halyard.Load(config,
		append(settings, halyard.Set("servers", "[{protocol: batch, listen: '127.0.0.1:0'}]"))...)
	if err != nil {
		t.Fatal(err)
	}
	var servers []halyard.Server
	sys, servers = servetest.Serve(t, cfg)
	for _, s := range servers {
		if s.Protocol == "batch" {
			address = s.Address
		}
	}
	return address, sys
}

func client(t *testing.T, address string, h *batch.Hello) (*batch.Client, error) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	c, err := batch.NewClient(conn, h)
	if err == nil {
		t.Cleanup(func() { c.Close() })
	}
	return c, err
}

// Copies over the socket are, bit for bit, those of the library.
func TestCopies(t *testing.T) {
	address, _ := serve(t, "pendulum")
	c, err := client(t, address, &batch.Hello{Copies: 4, Seed: 9,
		Observations: []string{"joint/position", "joint/velocity"}})
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := halyard.Load("pendulum")
	if err != nil {
		t.Fatal(err)
	}
	own, err := halyard.OpenBatch(cfg,
		halyard.BatchOptions{Copies: 4, Seed: 9, Observations: []string{"joint/position", "joint/velocity"}})
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	if s := c.Spaces; s.Copies != 4 || s.Period != 1e7 || len(s.Actions) != 1 || s.Actions[0].Unit != "rad" ||
		len(s.Observations) != 2 {
		t.Errorf("got %+v", s)
	}
	actions, a, b := make([]float64, 4), make([]float64, 8), make([]float64, 8)
	for n := range 50 {
		for i := range actions {
			actions[i] = math.Sin(float64(n)*0.1 + float64(i))
		}
		if n == 25 {
			which := []bool{true, false, true, false}
			if err := c.Reset(which, nil, a); err != nil {
				t.Fatal(err)
			}
			if err := own.Reset(which, nil, b); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.Step(actions, a); err != nil {
			t.Fatal(err)
		}
		if err := own.Step(actions, b); err != nil {
			t.Fatal(err)
		}
		for i := range a {
			if math.Float64bits(a[i]) != math.Float64bits(b[i]) {
				t.Fatalf("step %d: got %v over the socket, want %v", n, a, b)
			}
		}
	}
}

// The served rig itself, in real time on emulated hardware: it moves where it is told, under its guard, and one client
// has it.
func TestItself(t *testing.T) {
	address, sys := serve(t, "pendulum", halyard.Set("agents[0].body", "emulated"),
		halyard.Set("clock.mode", "realtime"))
	c, err := client(t, address, &batch.Hello{Target: batch.Itself, Copies: 1})
	if err != nil {
		t.Fatal(err)
	}
	seen := make([]float64, 1)
	if err := c.Reset(nil, nil, seen); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if err := c.Step([]float64{0.4}, seen); err != nil {
			t.Fatal(err)
		}
	}
	if math.Abs(seen[0]-0.4) > 0.05 {
		t.Errorf("got %.3f rad after a second, want 0.4", seen[0])
	}
	if _, err := client(t, address, &batch.Hello{Target: batch.Itself, Copies: 1}); hal.KindOf(err) != hal.Busy {
		t.Errorf("a second client: got %v, want busy", err)
	}
	if err := sys.Stop("test"); err != nil {
		t.Fatal(err)
	}
	for range 50 {
		if err := c.Step([]float64{-0.4}, seen); hal.KindOf(err) != hal.Unsafe ||
			!strings.Contains(err.Error(), "emergency stop is latched") {
			t.Fatalf("after the stop: got %v, want the client told", err)
		}
	}
	if err := c.Step([]float64{math.NaN()}, seen); err != nil {
		t.Errorf("a step without a command: got %v", err)
	}
	if seen[0] < 0.2 {
		t.Errorf("after the stop: got %.3f rad, want no motion by commands", seen[0])
	}
}

// The Python client does what the Go client does, where Python has numpy.
func TestPython(t *testing.T) {
	python := ""
	for _, p := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(p, "-c", "import numpy").Run() == nil {
			python = p
		}
	}
	if python == "" {
		t.Skip("no Python with numpy (try: apt-get install python3-numpy)")
	}
	address, _ := serve(t, "pendulum")
	folder, err := filepath.Abs("../../../clients/python")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, filepath.Join(folder, "test_client.py"), address)
	cmd.Env = append(os.Environ(), "PYTHONPATH="+folder, "PYTHONDONTWRITEBYTECODE=1")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "all good") {
		t.Errorf("got %v\n%s", err, out)
	}
}
