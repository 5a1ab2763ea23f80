package dashboard

import (
	"cmp"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/report"
)

// statusInterval is how old the status may be that another tab has caused: it needs the rig's lock for a moment.
const statusInterval = 200 * time.Millisecond

type (
	statusText struct {
		Op     string        `json:"op"`
		Rigs   []rigStatus   `json:"rigs"`
		Agents []agentStatus `json:"agents"`
	}
	rigStatus struct {
		Stopped      bool          `json:"stopped"` // the emergency stop is latched
		Ticks        uint64        `json:"ticks"`
		Missed       uint64        `json:"missed"`
		Late         report.Number `json:"late_p99_us"`
		Work         report.Number `json:"work_p99_us"`
		LineOverruns uint64        `json:"line_overruns"`
		Faults       uint64        `json:"faults"`
		Message      string        `json:"last_fault"`
		Buses        []busStatus   `json:"buses"`
	}
	busStatus struct {
		Name         string        `json:"name"`
		Body         string        `json:"body"`
		Servos       int           `json:"servos"`
		Cycles       uint64        `json:"cycles"`
		Timeouts     uint64        `json:"timeouts"`
		BadChecksums uint64        `json:"bad_checksums"`
		Garbage      uint64        `json:"garbage_bytes"`
		Fallbacks    uint64        `json:"fallbacks"`
		Reopened     uint64        `json:"reopened"`
		Sent         uint64        `json:"sent_bytes"`     // in the last cycle, as those below
		Received     uint64        `json:"received_bytes"` //
		Wire         report.Number `json:"wire_s"`
		Spent        report.Number `json:"spent_s"`
		Span         int           `json:"cycles_per_exchange"`
		Silent       []string      `json:"silent"` // joints on it that have a fault, AGENT/JOINT
	}
	agentStatus struct {
		State   string            `json:"state"`
		Reason  string            `json:"reason"`
		Holder  string            `json:"holder"`
		Faults  map[string]string `json:"faults"` // by the device
		Refused uint64            `json:"refused"`
		Clamped uint64            `json:"clamped"`
		Expired uint64            `json:"expired"`
		Stops   uint64            `json:"stops"`
	}
)

// statuses takes the status, at most once every statusInterval.
type statuses struct {
	mu    sync.Mutex
	taken time.Time
	text  []byte
}

func (s *Server) status() []byte {
	s.statuses.mu.Lock()
	defer s.statuses.mu.Unlock()
	if now := time.Now(); s.statuses.text == nil || now.Sub(s.statuses.taken) >= statusInterval {
		s.statuses.taken = now
		b, err := json.Marshal(s.readStatus())
		if err != nil {
			s.options.Log.Error("dashboard: status", "fault", err)
		}
		s.statuses.text = b
	}
	return s.statuses.text
}

// readStatus asks every rig.
func (s *Server) readStatus() (out statusText) {
	out.Op, out.Agents = "status", []agentStatus{}
	for _, r := range s.sampler.rigs {
		out.Rigs = append(out.Rigs, r.status())
	}
	for _, a := range s.sampler.list() {
		out.Agents = append(out.Agents, statusOf(a.agent))
	}
	return out
}

func (r *shown) status() rigStatus {
	var stats hal.Stats
	r.Rig.Stats(&stats)
	out := rigStatus{Stopped: r.Rig.Latched(), Ticks: stats.Ticks, Missed: stats.Missed,
		LineOverruns: stats.LineOverruns, Faults: stats.Faults,
		Message: stats.LastFault, Buses: []busStatus{}, Late: report.Number(stats.Late.Quantile(0.99).Seconds() * 1e6),
		Work: report.Number(stats.Work.Quantile(0.99).Seconds() * 1e6)}
	if r.System == nil {
		return out
	}
	r.Rig.BetweenCycles(func() { // a chain's counts are the cycle's
		for _, l := range r.System.LineStates() {
			out.Buses = append(out.Buses, busStatus{Name: l.Name, Body: l.Body, Servos: len(l.Joints),
				Cycles: l.Stats.Cycles, Timeouts: l.Stats.Timeouts, BadChecksums: l.Stats.BadChecksums,
				Garbage: l.Stats.Garbage, Fallbacks: l.Stats.Fallbacks, Reopened: l.Stats.Reopened,
				Sent: l.Stats.Sent, Received: l.Stats.Received, Wire: report.Number(l.Stats.Wire.Seconds()),
				Spent: report.Number(l.Stats.Spent.Seconds()), Span: l.Stats.Span, Silent: l.Joints})
		}
	})
	for i := range out.Buses {
		b := &out.Buses[i]
		b.Silent = r.silent(b.Silent)
	}
	return out
}

// silent are those of joints, AGENT/JOINT, whose device has a fault.
func (r *shown) silent(joints []string) []string {
	list := []string{}
	for _, a := range r.Rig.Agents() {
		status := a.Status(nil)
		for i, name := range a.Joints() {
			if j := a.Name() + "/" + name; status[i].Err != nil && slices.Contains(joints, j) {
				list = append(list, j)
			}
		}
	}
	return list
}

func statusOf(a *hal.Agent) agentStatus {
	state, counts, _ := a.Guard()
	out := agentStatus{State: state.String(), Reason: a.Condition().Reason, Holder: a.Holder(),
		Faults:  map[string]string{},
		Refused: counts.Refused, Clamped: counts.Clamped, Expired: counts.Expired, Stops: counts.Stops}
	l := a.Layout()
	for i, st := range a.Status(nil) {
		name, err := "", st.Err
		if n := len(l.Actuators); i < n {
			name, err = l.Actuators[i].Name, cmp.Or(a.JointFault(i), err)
		} else {
			name = l.Sensors[i-n].Name
		}
		if err != nil {
			out.Faults[name] = err.Error()
		}
	}
	return out
}
