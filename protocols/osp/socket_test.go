package osp

import (
	"context"
	"fmt"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/haltest"
	"github.com/halyard-robotics/halyard/protocols"
)

// serve answers for rig on a real socket until the test ends.
func serve(t testing.TB, rig *hal.Rig, o Options) (address string) {
	t.Helper()
	conn, err := protocols.ListenUDP(netip.MustParseAddrPort("127.0.0.1:0"))
	if err != nil {
		t.Fatal(err)
	}
	s := NewServer(rig, conn, o)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return s.Address().String()
}

// control dials and registers for the agent called name.
func control(t testing.TB, address, name string) (*Client, int32) {
	t.Helper()
	c, err := Dial(address, ClientOptions{})
	if err != nil {
		t.Fatal(err)
	}
	agents, err := c.Overview()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range agents {
		if a.Name == name {
			if err := c.Register(a.ID); err != nil {
				t.Fatal(err)
			}
			return c, a.ID
		}
	}
	t.Fatalf("agent %q: got %v", name, agents)
	return nil, 0
}

// TestTwoClientsRepeat: two agents of two clients over real sockets, reset with a seed and stepped 1000 times, twice:
// the outputs are the same, bit for bit, and differ with another seed.
func TestTwoClientsRepeat(t *testing.T) {
	rig := newRig(t)
	addAgent(t, rig, "one", hal.Emulated)
	addAgent(t, rig, "two", hal.Emulated)
	address := serve(t, rig, Options{})
	run := func(seed int32) string {
		var wg sync.WaitGroup
		var outputs [2][]float32
		var clients [2]*Client
		var ids [2]int32
		// both before the first request: otherwise the first client would not wait for the second
		for i, name := range []string{"one", "two"} {
			clients[i], ids[i] = control(t, address, name)
			defer clients[i].Close()
		}
		for i := range clients {
			c, id := clients[i], ids[i]
			wg.Go(func() {
				if err := c.Reset(seed); err != nil {
					t.Error(err)
					return
				}
				inputs := []float32{0, 1}
				for k := range 1000 {
					inputs[0] = float32(k%17)/17 - 0.5
					r, err := c.Step(id, inputs)
					if err != nil {
						t.Error(err)
						return
					}
					outputs[i] = append(append(outputs[i], r.Outputs...), r.Infos...)
				}
			})
		}
		wg.Wait()
		return fmt.Sprintf("%x", outputs)
	}
	first, second, other := run(7), run(7), run(8)
	if first != second {
		t.Error("two runs with one seed differ")
	}
	if first == other {
		t.Error("two seeds give the same run")
	}
}

// TestStepDoesNotAllocate counts client and server together.
func TestStepDoesNotAllocate(t *testing.T) {
	rig := newRig(t)
	addAgent(t, rig, "pendulum", hal.Emulated)
	c, id := control(t, serve(t, rig, Options{}), "pendulum")
	defer c.Close()
	if _, err := c.RegisterEvent("/Control/StepCompleted"); err != nil {
		t.Fatal(err)
	}
	values, err := c.FindValues("/Control/CurrentStep|/pendulum/hinge/JointAngle")
	if err != nil || len(values) != 2 {
		t.Fatal(values, err)
	}
	if _, err := c.Observe(values[0].ID, values[1].ID); err != nil {
		t.Fatal(err)
	}
	inputs := []float32{0.5, 1}
	step := func() {
		if _, err := c.Step(id, inputs); err != nil {
			t.Fatal(err)
		}
	}
	step()
	if n := testing.AllocsPerRun(1000, step); n != 0 {
		t.Errorf("got %v allocations a step, want 0", n)
	}
}

// TestRealtime: the same client on a rig that ticks on the wall clock, with a body that moves home for a reset.
func TestRealtime(t *testing.T) {
	rig, err := hal.New(hal.Config{Name: "test", Mode: hal.Realtime, Period: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	addAgent(t, rig, "arm", hal.Real)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- rig.Run(ctx) }()
	defer func() {
		cancel()
		<-done
	}()
	c, id := control(t, serve(t, rig, Options{}), "arm")
	defer c.Close()
	var last float32
	for range 20 {
		r, err := c.Step(id, []float32{0.1, 1})
		if err != nil {
			t.Fatal(err)
		}
		last = r.Outputs[0]
	}
	if last <= 0 {
		t.Errorf("after 20 steps: got %v, want above 0", last)
	}
	if err := c.Reset(0); err != nil {
		t.Fatal(err)
	}
	r, err := c.Step(id, nil)
	if err != nil {
		t.Fatal(err)
	}
	if at := float64(r.Outputs[0]); !almost(at, 0) {
		t.Errorf("after the reset: got %v, want home", at)
	}
}

// BenchmarkBareUDP is the round trip of one datagram of a step's size between two sockets of this process.
func BenchmarkBareUDP(b *testing.B) {
	trip := bareUDP(b)
	for b.Loop() {
		trip()
	}
}

// bareUDP returns a function that makes one round trip of 64 bytes.
func bareUDP(b *testing.B) (trip func()) {
	b.Helper()
	local := netip.MustParseAddrPort("127.0.0.1:0")
	server, err := protocols.ListenUDP(local)
	if err != nil {
		b.Fatal(err)
	}
	client, err := protocols.ListenUDP(local)
	if err != nil {
		b.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		in := make([]byte, 2048)
		for {
			n, from, err := server.ReadFromUDPAddrPort(in)
			if err != nil {
				return
			}
			server.WriteToUDPAddrPort(in[:n], from)
		}
	}()
	b.Cleanup(func() {
		server.Close()
		client.Close()
		<-done
	})
	in, out, to := make([]byte, 2048), make([]byte, 64), protocols.Address(server)
	return func() {
		client.WriteToUDPAddrPort(out, to)
		if _, _, err := client.ReadFromUDPAddrPort(in); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkStepLoopback is a whole step of one agent over real sockets. Its bound is half the rate of bare round trips.
func BenchmarkStepLoopback(b *testing.B) {
	for _, c := range []struct {
		name   string
		joints []string
	}{
		{"pendulum", []string{"hinge"}},
		{"humanoid", []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r",
			"s", "t", "u"}},
	} {
		b.Run(c.name, func(b *testing.B) {
			rig := newRig(b)
			body := haltest.NewBody(c.joints...)
			if _, err := rig.Add(hal.AgentConfig{Name: "agent", Body: body, World: body}); err != nil {
				b.Fatal(err)
			}
			client, id := control(b, serve(b, rig, Options{}), "agent")
			defer client.Close()
			inputs := make([]float32, 2*len(c.joints))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := client.Step(id, inputs); err != nil {
					b.Fatal(err)
				}
			}
			trip, start := bareUDP(b), time.Now()
			for range b.N {
				trip()
			}
			bound := float64(b.N) / time.Since(start).Seconds() / 2
			rate := float64(b.N) / b.Elapsed().Seconds()
			b.ReportMetric(rate, "steps/s")
			b.ReportMetric(bound, "bound/s")
			b.ReportMetric(rate/bound, "ratio")
		})
	}
}
