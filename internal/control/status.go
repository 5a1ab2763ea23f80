package control

import (
	"cmp"
	"slices"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/report"
)

// BusStatus is a line of servos: its counts since the start, and the times of its last cycle.
type BusStatus struct {
	Name         string        `json:"name"`
	Body         string        `json:"body"`
	Servos       int           `json:"servos"`
	Cycles       uint64        `json:"cycles"`
	Timeouts     uint64        `json:"timeouts"`
	BadChecksums uint64        `json:"bad_checksums"`
	Reopened     uint64        `json:"reopened"`
	Wire         report.Number `json:"wire_s"`
	Spent        report.Number `json:"spent_s"`
	Span         int           `json:"cycles_per_exchange"` // above 1: the line is slower than the cycle
}

type RigStatus struct {
	Name    string        `json:"name"`
	State   string        `json:"state"` // the gravest of its joints: stopped, fault, disarmed, expired or armed
	Clock   string        `json:"clock"`
	Stopped bool          `json:"stopped"` // the emergency stop is latched
	Cycles  uint64        `json:"cycles"`
	Ticks   uint64        `json:"ticks"`
	Missed  uint64        `json:"missed"`
	Behind  report.Number `json:"behind_s"` // delay of rig time against the clock
	P99us   report.Number `json:"late_p99_us"`
	Faults  uint64        `json:"faults"`
	Message string        `json:"last_fault,omitempty"`
}

type JointStatus struct {
	Agent string `json:"agent"`
	Joint string `json:"joint"`
	State string `json:"state"`
	// the guard gives it torque: an armed joint has none before its first command
	Torque bool   `json:"torque"`
	Reason string `json:"reason,omitempty"` // of the agent's state: the source of arm or disarm, the cause of a stop
	Holder string `json:"holder,omitempty"`
	// The position: in radians, or in metres of a slide.
	Angle  *report.Number `json:"pos_rad,omitempty"`
	Length *report.Number `json:"pos_m,omitempty"`

	Acked *bool  `json:"acknowledged,omitempty"` // of an emergency stop
	Fault string `json:"fault,omitempty"`

	err error // the fault
}

// leaderState is the state of a leader's joint: it is read, and never has torque.
const leaderState = "leader"

// Position is Angle or Length; 0 where the joint has neither.
func (j *JointStatus) Position() float64 {
	for _, p := range []*report.Number{j.Angle, j.Length} {
		if p != nil {
			return float64(*p)
		}
	}
	return 0
}

// Word is the joint's state in the one word, with what an armed joint lacks.
func (j *JointStatus) Word() string {
	if j.State == hal.Armed.String() && !j.Torque {
		return "armed, no torque yet"
	}
	return j.State
}

// stateOf is the state of a rig: the gravest of its joints, armed without any.
func stateOf(stopped bool, joints []JointStatus) string {
	if stopped {
		return hal.Stopped.String()
	}
	for _, grave := range []hal.GuardState{hal.Stopped, hal.Faulty, hal.Disarmed, hal.Expired} {
		if slices.ContainsFunc(joints, func(j JointStatus) bool { return j.State == grave.String() }) {
			return grave.String()
		}
	}
	return hal.Armed.String()
}

// position is Position with its unit.
func (j *JointStatus) position() report.Value {
	unit := "rad"
	if j.Length != nil {
		unit = "m"
	}
	return report.Value{Number: report.Number(j.Position()), Unit: unit}
}

func (j JointStatus) Cells() report.Cells {
	acked := "-"
	if j.Acked != nil {
		acked = map[bool]string{true: "yes", false: "NO"}[*j.Acked]
	}
	return report.Cells{{"agent", j.Agent}, {"joint", j.Joint}, {"state", j.Word()}, {"held by", cmp.Or(j.Holder, "-")},
		{"position", j.position()}, {"acknowledged", acked}, {"fault", cmp.Or(j.Fault, "-")}}
}
