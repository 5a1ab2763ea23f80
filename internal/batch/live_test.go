package batch_test

import (
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/haltest"
	"github.com/halyard-robotics/halyard/internal/batch"
)

// orders is a journal of what agents were ordered.
type orders []hal.Order

func (o *orders) Order(order hal.Order) { *o = append(*o, order) }
func (o *orders) Cycle(hal.CycleEnd)    {}

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
	var got orders
	r.SetJournal(&got)
	if _, err := r.NewSession("other", nil).Acquire(r.Agents()[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := batch.OpenLive(r, batch.Options{}); hal.KindOf(err) != hal.Busy {
		t.Errorf("got %v, want Busy", err)
	}
	if len(got) > 0 {
		t.Errorf("orders: got %+v, want none", got)
	}
}
