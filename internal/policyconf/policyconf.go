// Package policyconf has the keys of learned policies in a config.
package policyconf

import "time"

// Policy is a learned policy of one agent: an ONNX file, and what its numbers mean (docs/policy.md). What the config
// leaves out is as the file's own metadata has it.
type Policy struct {
	Agent        string        `yaml:"agent" otherwise:"the only one" doc:"Agent that it drives."`
	File         string        `yaml:"file" file:"path" required:"true" doc:"Path of the ONNX file."`
	Use          bool          `yaml:"use" default:"false" doc:"It drives the agent from the start, whenever that is armed. Else only once the value /AGENT/policy is set to its name. It never arms."`
	Rate         float64       `yaml:"rate" min:"0" max:"10000" otherwise:"that of the cycle" doc:"Steps a second, Hz; the cycle's rate must be a multiple of it."`
	Joints       []string      `yaml:"joints" count:"256" otherwise:"joint_names of the file, else all of the robot" doc:"Joints in the order of observations and actions."`
	Default      []float64     `yaml:"default" count:"256" otherwise:"default_joint_pos of the file, else the robot's default pose" doc:"Their default positions, rad, m."`
	Observations []PolicyTerm  `yaml:"observations" count:"256" otherwise:"observation_names of the file" doc:"Terms of the observation, in order."`
	Action       Action        `yaml:"action" doc:"What the outputs mean."`
	Commands     []Command     `yaml:"commands" count:"256" otherwise:"x, y, yaw" doc:"Values of the term command. Each is the value /AGENT/command/NAME, which clients set."`
	Ramp         time.Duration `yaml:"ramp" min:"0s" max:"1m" otherwise:"2s where anything of the robot is real, else 0s" doc:"Time in which the goals pass from the present positions to the policy's, whenever it begins."`
}

// PolicyTerm is one term of an observation: (value + offset + noise), clipped, times scale; then its history.
type PolicyTerm struct {
	Term    string        `yaml:"term" required:"true" enum:"base_ang_vel|base_lin_vel|base_lin_acc|projected_gravity|joint_pos|joint_vel|actions|targets|command|phase|phase_cos|foot_contact|height_scan|sensor|constant" doc:"joint_pos: less the default. actions: the last outputs; targets: the last goals. phase: sine, cosine; phase_cos: cosine, sine. height_scan: a range sensor. sensor: all values of any sensor. constant: the offset."`
	Sensors []string      `yaml:"sensors" count:"256" otherwise:"the first that fits" doc:"Sensors of the robot that it is read from, by name."`
	Scale   []float64     `yaml:"scale" count:"256" otherwise:"1" doc:"Factor: one, or one a value."`
	Offset  []float64     `yaml:"offset" count:"256" otherwise:"0" doc:"What is added first: one, or one a value."`
	Clip    float64       `yaml:"clip" default:"0" min:"0" max:"1e6" doc:"Greatest amount before the scale; 0 = no bound."`
	Noise   float64       `yaml:"noise" default:"0" min:"0" max:"1e6" doc:"Greatest amount of uniform noise, on simulated bodies only, seeded by world.seed."`
	History int           `yaml:"history" default:"1" min:"1" max:"100" doc:"Steps that it holds, the oldest first."`
	Delay   int           `yaml:"delay" default:"0" min:"0" max:"100" doc:"actions: how many steps before the last."`
	Period  time.Duration `yaml:"period" default:"1s" min:"10ms" max:"1m" doc:"Of the phase."`
}

// Action is what the outputs of a policy mean: offset + scale × output.
type Action struct {
	Mode    string    `yaml:"mode" default:"position" enum:"position|velocity|torque" doc:"Mode of the goals."`
	Scale   []float64 `yaml:"scale" count:"256" otherwise:"action_scale of the file, else 1" doc:"Factor: one, or one a joint."`
	Offset  []float64 `yaml:"offset" count:"256" otherwise:"the default positions; else 0" doc:"Goal at an output of 0: one, or one a joint."`
	Clip    float64   `yaml:"clip" default:"0" min:"0" max:"1e6" doc:"Greatest amount of an output; 0 = no bound."`
	LowPass float64   `yaml:"low_pass" default:"0" min:"0" max:"1000" doc:"Corner frequency of a low-pass of first order on the goals, Hz; 0 = none."`
	Speed   float64   `yaml:"speed" default:"0" min:"0" max:"1000" doc:"Greatest change of the goals in a second; 0 = the guard's."`
}

// Command is one value that a policy is commanded by.
type Command struct {
	Name  string  `yaml:"name" required:"true" form:"name" doc:"Name: the value /AGENT/command/NAME sets it."`
	Value float64 `yaml:"value" default:"0" min:"-1e6" max:"1e6" doc:"At the start, and again when no client has set it for the agent's command_timeout."`
	Min   float64 `yaml:"min" default:"-1" min:"-1e6" max:"1e6" doc:"Least value."`
	Max   float64 `yaml:"max" default:"1" min:"-1e6" max:"1e6" doc:"Greatest value."`
}
