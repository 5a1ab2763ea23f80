// Package halyard opens robots: simulated, emulated or real ones, from one config.
//
// Load reads a config, Open opens its devices and worlds, and a System is the open robots: its agents accept commands
// and report their state by joint name, in SI units and radians. In lock-step, Step runs one cycle; in real time, Run
// runs the cycle, the servers of the config and the control socket until its context ends. Close stops the bodies and
// releases everything.
//
//	cfg, err := halyard.Load("so101", halyard.Set("agents[0].body", "emulated"))
//	sys, err := halyard.Open(cfg)
//	defer sys.Close()
//	arm := sys.Agent("so101")
//	err = arm.Command("elbow_flex", halyard.Position(0.5))
//	err = sys.Step()
//	fmt.Println(arm.State("elbow_flex").Position)
//
// Every command passes the agent's guard: soft limits, slew, deadlines and the emergency stop apply as for every
// protocol. A real body waits for Arm unless its config disables that. Errors are *hal.Error; hal.KindOf returns their
// kind.
package halyard
