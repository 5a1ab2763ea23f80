package dashboard

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"time"

	"github.com/halyard-robotics/halyard/configs"
)

// maxPush bounds the force of a hand, N.
const maxPush = 100

// push is a hand on a body of a scene, until a release or Deadman without a message.
type push struct {
	agent, body string
	force       [3]float64 // N, world axes
	until       time.Time
}

// push applies a hand to a body. A real robot is refused: the scene only follows it.
func (s *Server) push(q *request, now time.Time) error {
	a := s.sampler.find(q.Rig, q.Agent)
	if a != nil && slices.Contains(a.kinds, configs.Real) {
		return errors.New("push: only for simulated robots")
	}
	if a == nil || s.sampler.rigs[a.rig].System == nil {
		return fmt.Errorf("push: got %.50q, want a robot of the layout", q.Agent)
	}
	size := math.Sqrt(q.Force[0]*q.Force[0] + q.Force[1]*q.Force[1] + q.Force[2]*q.Force[2])
	if !(size <= maxPush) {
		return fmt.Errorf("push: got %g N, want at most %d", size, maxPush)
	}
	r := s.sampler.rigs[a.rig]
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hand = push{q.Agent, q.Body, q.Force, now.Add(Deadman)}
	return nil
}

// release releases the hand of a rig.
func (s *Server) release(q *request) {
	if q.Rig >= 0 && q.Rig < len(s.sampler.rigs) {
		r := s.sampler.rigs[q.Rig]
		r.mu.Lock()
		r.hand = push{}
		r.mu.Unlock()
	}
}

// touch pushes, at a cycle's edge. Under the lock.
func (r *shown) touch(now time.Time) {
	if r.hand.body == "" {
		return
	}
	if now.After(r.hand.until) || r.System.Scene.Push(r.hand.agent, r.hand.body, r.hand.force) != nil {
		r.hand = push{}
	}
}

// tamper plants a fault in an emulated servo, or ends its faults: ?rig=0&agent=NAME&joint=NAME&fault=TEXT.
func (s *Server) tamper(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	agent, joint, fault := q.Get("agent"), q.Get("joint"), q.Get("fault")
	var answer struct {
		Error string `json:"error,omitempty"`
	}
	err := fmt.Errorf("rig: got %.20q, want a rig of the layout", q.Get("rig"))
	if at := s.rig(r); at != nil && at.System != nil {
		at.Rig.BetweenCycles(func() { err = at.System.Tamper(agent, joint, fault) })
	}
	if err != nil {
		answer.Error = err.Error()
		reply(w, http.StatusConflict, answer)
		return
	}
	text := "fault planted in " + agent + "/" + joint + ": " + fault
	if fault == "" {
		text = "faults ended in " + agent + "/" + joint
	}
	s.journal.Add("order", text)
	reply(w, http.StatusOK, answer)
}
