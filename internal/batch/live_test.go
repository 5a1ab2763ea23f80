package batch_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/haltest"
	"github.com/halyard-robotics/halyard/internal/batch"
	"github.com/halyard-robotics/halyard/internal/builtin"
	"github.com/halyard-robotics/halyard/internal/plan"
)

// A client that is refused because one robot is in use leaves the others as they are, one on its way home for instance.
func TestRefusedClientOrdersNothing(t *testing.T) {
	r, err := hal.New(hal.Config{Name: "two", Mode: hal.Lockstep, Period: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b"} {
		body := haltest.NewBody("j")
		r.AddWorld(body)
		if _, err := r.Add(hal.AgentConfig{Name: name, Body: body, World: body}); err != nil {
			t.Fatal(err)
		}
	}
	journal := r.OpenJournal(1)
	if _, err := r.NewSession("other", nil).Acquire(r.Agents()[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := batch.OpenLive(r, batch.Options{}); hal.KindOf(err) != hal.Busy {
		t.Errorf("got %v, want Busy", err)
	}
	if got := journal.Close(); len(got) > 0 {
		t.Errorf("orders: got %+v, want none", got)
	}
}

// failingWorld is a world that fails once.
type failingWorld struct{ n, at int }

func (w *failingWorld) Advance(time.Duration) error {
	if w.n++; w.n == w.at {
		panic("a bug")
	}
	return nil
}

// A copy whose cycle has ended in a panic is stopped: that is an error of this step and of those after it.
func TestStoppedCopyIsAnError(t *testing.T) {
	p, err := plan.Load("pendulum", configs.Options{}, builtin.Catalog())
	if err != nil {
		t.Fatal(err)
	}
	b, err := batch.Open(p, batch.Options{Copies: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	b.Rig(1).AddWorld(&failingWorld{at: 3})
	actions, seen := slices.Repeat([]float64{math.NaN()}, 2*len(b.Actions())), make([]float64, 2*len(b.Observations()))
	for n := 1; n <= 5; n++ {
		err := b.Step(actions, seen)
		if n < 3 && err != nil || n >= 3 && (err == nil || !strings.Contains(err.Error(), "a bug")) {
			t.Errorf("step %d: got %v", n, err)
		}
	}
}
