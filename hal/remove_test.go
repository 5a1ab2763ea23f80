package hal_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/haltest"
)

// slow is a body whose joints keep torque for some cycles after the command to switch it off.
type slow struct {
	*haltest.Body
	cycles int  // that it takes
	off    int  // cycles without torque so far
	held   bool // when it was halted
}

func (s *slow) Write(f *hal.Frame) error {
	err := s.Body.Write(f)
	if s.off++; s.Enabled[0] {
		s.off = 0
	}
	return err
}

func (s *slow) Holding(int) bool { return s.off < s.cycles }

func (s *slow) Halt() error {
	s.held = s.Holding(0)
	return s.Body.Halt()
}

// A real body being removed switches torque off in cycles of the rig, before its Halt, during which no cycle runs. One
// that keeps torque is halted nevertheless after a second. Other bodies are halted at once.
func TestRemoveLetsGo(t *testing.T) {
	for _, c := range []struct {
		name    string
		reality hal.BodyKind
		cycles  int
		held    bool
		most    time.Duration // that Remove takes
	}{
		{"lets go", hal.Real, 20, false, 500 * time.Millisecond},
		{"does not", hal.Real, 1 << 30, true, 1100 * time.Millisecond},
		{"emulated", hal.Emulated, 20, true, 6 * period},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, hal.Realtime)
			body := &slow{Body: haltest.NewBody("x"), cycles: c.cycles}
			a, err := r.Add(hal.AgentConfig{Name: "a", Body: body, BodyKind: c.reality})
			if err != nil {
				t.Fatal(err)
			}
			p, l, _ := acquire(t, r, "client", a)
			ctx, cancel := context.WithCancel(context.Background())
			ended := make(chan error, 1)
			go func() { ended <- r.Run(ctx) }()
			if err := p.Step(l, []float64{1, nan}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(10 * period)
			p.Close()
			began := time.Now()
			removed := make(chan error, 1)
			go func() { removed <- r.Remove("a") }()
			time.Sleep(5 * period)
			if c.reality == hal.Real { // it is on its way out
				q := r.NewSession("another", nil)
				if _, err := q.Acquire(a); hal.KindOf(err) != hal.Busy {
					t.Errorf("%s: taken while it leaves: got %v", c.name, err)
				}
				if err := r.Remove("a"); hal.KindOf(err) != hal.Busy {
					t.Errorf("%s: removed twice: got %v", c.name, err)
				}
				q.Close()
			}
			if err := <-removed; err != nil || body.held != c.held || r.Agent("a") != nil {
				t.Errorf("%s: got %v, held %v, agent %v", c.name, err, body.held, r.Agent("a"))
			}
			if took := time.Since(began); took > c.most {
				t.Errorf("%s: took %v", c.name, took)
			}
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
}
