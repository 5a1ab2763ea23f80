// Package teleop lets followers go where a leader is, whose joints a person moves.
//
//	Teleop    all leaders and followers of a rig: one engagement, in the rig's cycle, by leases and guards
//	Episodes  what is worth keeping of a recording, by the marks in it
//
// A leader is an agent that is only read (hal.GuardConfig.Passive). A link maps one of its joints to one of a follower.
// The follower's goals begin at the goals that it has, so that nothing jumps: they go to the leader at the follower's
// home speed, and follow it once every joint is near. What is lost of either side ends the engagement: the followers
// hold, and only an operator engages again.
package teleop
