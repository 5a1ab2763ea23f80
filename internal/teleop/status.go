package teleop

import "github.com/halyard-robotics/halyard/internal/report"

// Status is a teleop between two cycles.
type Status struct {
	State    State   `json:"state"`
	Reason   string  `json:"reason,omitempty"` // why it is off
	Episode  string  `json:"episode,omitempty"`
	Task     string  `json:"task,omitempty"` // of the episode that runs
	Episodes int     `json:"episodes"`       // that have ended and are kept
	Joints   []Joint `json:"joints"`
}

// Joint is one joint of a follower, rad or m.
type Joint struct {
	Leader     string        `json:"leader"`
	Follower   string        `json:"follower"`
	Target     report.Number `json:"target"`     // the leader's position, mapped
	Position   report.Number `json:"position"`   // of the follower
	Difference report.Number `json:"difference"` // by which the follower is beyond the target
	// Offset is the mean difference of the last time that both arms were still, Frames how many cycles that was.
	Offset report.Number `json:"offset"`
	Frames int           `json:"still_cycles"`
	Age    report.Number `json:"age_s"` // of the leader's reading
}

// Cells implements a row of a table.
func (j Joint) Cells() report.Cells {
	return report.Cells{{"leader", j.Leader}, {"follower", j.Follower}, {"target", j.Target}, {"position", j.Position},
		{"difference", j.Difference}, {"still offset", j.Offset}}
}

// Status is the present one.
func (t *Teleop) Status() (s Status) {
	t.rig.BetweenCycles(func() {
		s = Status{State: t.state, Reason: t.reason, Episodes: t.episodes.Kept()}
		if e := t.episodes.Running(); e != nil {
			s.Episode, s.Task = "runs", e.Task
		}
		for i := range t.links {
			l := &t.links[i]
			from := &l.leader.joints[l.from]
			s.Joints = append(s.Joints, Joint{Leader: l.leader.name(l.from), Follower: l.follower.name(l.to),
				Target: report.Number(l.target), Position: report.Number(l.follower.joints[l.to].at),
				Difference: report.Number(l.difference()), Offset: report.Number(l.mean), Frames: l.count,
				Age: report.Number((t.elapsed - from.seen).Seconds())})
		}
	})
	return s
}
