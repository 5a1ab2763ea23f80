// Package sim is the simulated Body: robots of sim/model whose joints are servos of sim/actuator, in one Scene, which
// is the World.
//
// A Scene lives in the rig's cycle: Body.Write puts commands into the joints' servos, Scene.Advance lets them all step,
// Body.Read says what came of it. Everything runs in the caller's goroutine, in the order in which robots were added;
// the same seed and the same inputs give the same bits on every machine. A joint may be driven from outside instead, by
// an emulated device that writes the same servo from its registers (sim/emulator).
//
// For now a joint's load is one inertia, which gravity may pull as a pendulum; joints do not feel one another. That
// knowledge stands in Joint.step alone, so an engine of whole bodies takes its place and nothing else changes.
package sim
