package work

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/batch"
)

// listen starts a queue on a free port.
func listen(t *testing.T, dir string) *Server {
	t.Helper()
	s, err := Listen(ServerOptions{Address: "127.0.0.1:0", Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func dial(t *testing.T, url string) *Queue {
	t.Helper()
	q, err := Dial(t.Context(), Options{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(q.Close)
	return q
}

// crew runs n workers, whose rigs are counters, until the returned function ends them; that returns how many rollouts
// each did.
func crew(t *testing.T, url string, n int) (end func() []int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	done := make([]int, n)
	for i := range n {
		w := &Worker{Queue: dial(t, url), Log: slog.New(slog.DiscardHandler),
			Open: func(cfg *configs.Config, o batch.Options) (Environment, error) {
				if cfg.Name != "pendulum" || o.Copies != 1 {
					return nil, fmt.Errorf("got the rig %q, %d copies", cfg.Name, o.Copies)
				}
				if len(o.Actions) > 0 {
					return nil, fmt.Errorf("actions: got %q", o.Actions)
				}
				return &counter{}, nil
			}}
		all.Go(func() {
			if err := w.Run(ctx); err != nil {
				t.Error(err)
			}
			done[i] = w.Done()
		})
	}
	return func() []int { cancel(); all.Wait(); return done }
}

func pendulum(t *testing.T) *configs.Config {
	t.Helper()
	cfg, err := configs.Load("pendulum", configs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func tasks(n int) (list []*Rollout) {
	for i := range n {
		list = append(list, &Rollout{Key: fmt.Sprintf("r%d", i), Seed: int64(i + 1), Steps: 3,
			Actions: []Row{{1, float64(i)}}})
	}
	return list
}

// submit returns the results as they came.
func submit(t *testing.T, q *Queue, list []*Rollout) (got []*Result, err error) {
	t.Helper()
	err = q.Submit(t.Context(), pendulum(t), "", list, func(r *Result) error {
		copied := *r
		got = append(got, &copied)
		return nil
	})
	return got, err
}

// Each rollout has one result, in order; those that the queue has are not run again, also after it was stopped and
// started.
func TestQueue(t *testing.T) {
	dir := t.TempDir()
	first, err := Listen(ServerOptions{Address: "127.0.0.1:0", Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	end := crew(t, first.URL(), 3)
	got, err := submit(t, dial(t, first.URL()), tasks(60))
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, n := range end() {
		total += n
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if len(got) != 60 || total != 60 {
		t.Fatalf("got %d results of %d runs, want 60 of 60", len(got), total)
	}
	for i, r := range got {
		if n := len(r.Observations); r.Key != fmt.Sprintf("r%d", i) || n != 4 ||
			r.Observations[3][0] != float64(i+1+1+i) || r.Error != "" {
			t.Errorf("result %d: got %+v", i, r)
		}
	}
	s := listen(t, dir)
	end = crew(t, s.URL(), 1)
	q := dial(t, s.URL())
	again, err := submit(t, q, tasks(61))
	if err != nil || len(again) != 61 || again[7].Hash != got[7].Hash {
		t.Errorf("again: got %d results, %v", len(again), err)
	}
	// Another rollout under a key that was used.
	other := tasks(3)
	other[1].Seed = 99
	if _, err := submit(t, q, other); hal.KindOf(err) != hal.Differs || !strings.Contains(err.Error(), "r1") {
		t.Errorf("another rollout of a key: got %v, want a difference of r1", err)
	}
	if _, err := submit(t, q, append(tasks(2), tasks(1)...)); hal.KindOf(err) != hal.Invalid {
		t.Errorf("a key twice: got %v", err)
	}
	if n := end()[0]; n != 1 {
		t.Errorf("got %d runs, want 1: 60 were there", n)
	}
}

// A worker that died after its result was stored, and before the rollout was acknowledged, costs no second run.
func TestDeliveredAgain(t *testing.T) {
	s := listen(t, "")
	q := dial(t, s.URL())
	end := crew(t, s.URL(), 1)
	if _, err := submit(t, q, tasks(1)); err != nil {
		t.Fatal(err)
	}
	rig, err := q.Store(t.Context(), pendulum(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := q.publish(t.Context(), rig, "", tasks(1)[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := submit(t, q, tasks(2)[1:]); err != nil { // which comes after it
		t.Fatal(err)
	}
	if n := end()[0]; n != 2 {
		t.Errorf("got %d runs, want 2: r0 and r1", n)
	}
}

// What no worker could do has a result that tells so, and messages that are no rollouts hold up nothing.
func TestQueueFaults(t *testing.T) {
	s := listen(t, "")
	q := dial(t, s.URL())
	end := crew(t, s.URL(), 1)
	defer end()
	if _, err := q.js.Publish(t.Context(), q.subject("junk"), []byte("{")); err != nil {
		t.Fatal(err)
	}
	list := tasks(4)
	list[0].Act = []string{"elbow"}
	list[1].Actions = []Row{{1}}
	got, err := submit(t, q, list)
	if err != nil || len(got) != 4 {
		t.Fatal(got, err)
	}
	for i, want := range []string{`actions: got ["elbow"]`, "rows of 1 values, want 2", "", ""} {
		if want == "" && got[i].Error != "" || !strings.Contains(got[i].Error, want) {
			t.Errorf("result %d: got %q, want %q", i, got[i].Error, want)
		}
	}
}

func TestListenRefuses(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, c := range []struct {
		o    ServerOptions
		kind hal.Kind
	}{
		{ServerOptions{Address: "nowhere"}, hal.Invalid},
		{ServerOptions{Address: "127.0.0.1:nats"}, hal.Invalid},
		{ServerOptions{Address: "127.0.0.1:70000"}, hal.Invalid},
		{ServerOptions{Address: "0.0.0.0:0"}, hal.Unsafe},
		{ServerOptions{Address: ":0"}, hal.Unsafe},
		{ServerOptions{Address: taken.Addr().String()}, hal.Busy},
	} {
		s, err := Listen(c.o)
		if err == nil {
			s.Close()
		}
		if hal.KindOf(err) != c.kind {
			t.Errorf("%+v: got %v, want %v", c.o, err, c.kind)
		}
	}
}

func TestDialRefuses(t *testing.T) {
	if _, err := Dial(t.Context(), Options{URL: "nats://127.0.0.1:1"}); hal.KindOf(err) != hal.Absent {
		t.Errorf("no server: got %v, want absent", err)
	}
	locked, err := Listen(ServerOptions{Address: "127.0.0.1:0", Token: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	defer locked.Close()
	if _, err := Dial(t.Context(), Options{URL: locked.URL()}); hal.KindOf(err) != hal.Busy {
		t.Errorf("no token: got %v, want busy", err)
	}
	q, err := Dial(t.Context(), Options{URL: locked.URL(), Token: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	q.Close()
	if _, err := Dial(t.Context(), Options{URL: locked.URL(), Token: "secret", Name: "a.b"}); hal.KindOf(
		err) != hal.Invalid {
		t.Errorf("a name with a dot: got %v, want invalid", err)
	}
	// A server without JetStream.
	plain, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true,
		NoLog: true, StoreDir: filepath.Join(t.TempDir(), "js")})
	if err != nil {
		t.Fatal(err)
	}
	plain.Start()
	defer func() { plain.Shutdown(); plain.WaitForShutdown() }()
	if !plain.ReadyForConnections(timeoutOfReady) {
		t.Fatal("the server is not ready")
	}
	if _, err := Dial(t.Context(), Options{URL: plain.ClientURL()}); hal.KindOf(err) != hal.Invalid ||
		!strings.Contains(err.Error(), "--jetstream") {
		t.Errorf("no JetStream: got %v, want what to type", err)
	}
}
