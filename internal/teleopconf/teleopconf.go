// Package teleopconf has the keys of leaders and followers in a config.
package teleopconf

import "time"

// Pair is a leader, whose joints are read, and a follower that goes where the leader is (docs/teleop.md).
type Pair struct {
	Leader   string           `yaml:"leader" required:"true" doc:"Agent whose joints are read, a person moves it. It never has torque, and is never armed."`
	Follower string           `yaml:"follower" required:"true" doc:"Agent that follows. A leader can have several, each with an entry of its own."`
	Joints   map[string]Joint `yaml:"joints" form:"name" otherwise:"those that both have, by name" doc:"Joints of the follower that follow, by name; the others hold."`
	Engage   string           `yaml:"engage" default:"ramp" enum:"ramp|match" doc:"How the follower begins. ramp: it goes to the leader at its home_speed. match: it is refused while a joint is farther away than within."`
	Within   float64          `yaml:"within" default:"0.1" min:"0.001" max:"1" doc:"Distance from the leader, rad or m, within which every joint must be before the follower follows at its own speed."`
	Deadline time.Duration    `yaml:"deadline" default:"200ms" min:"10ms" max:"10s" doc:"Age of a reading of the leader, or of the follower, at which the followers hold until the operator engages again."`
}

// Joint maps a joint of a leader to one of the follower: scale × position + offset.
type Joint struct {
	Leader string  `yaml:"leader" otherwise:"the follower's name of it" doc:"Joint of the leader."`
	Scale  float64 `yaml:"scale" default:"1" min:"-100" max:"100" doc:"Factor; below 0 it turns the other way."`
	Offset float64 `yaml:"offset" default:"0" min:"-100" max:"100" doc:"Position of the follower where the leader is at 0, rad or m."`
	Range  bool    `yaml:"range" default:"false" doc:"The whole range of the leader's joint becomes that of the follower's, as for a gripper or a trigger. A scale of -1 reverses it; the offset is added."`
}
