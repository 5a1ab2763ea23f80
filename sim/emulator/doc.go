// Package emulator emulates bus servos byte for byte: a register file on top of each simulated actuator, all servos of one
// line behind one adapter, and the faults of the line. Drivers and vendor SDKs work on it unchanged. A vendor's
// folder consists of a Kind, the effects of its registers, and a Protocol, its packets.
//
//	host bytes ─► Bus: tongue ─► Servo: rules, registers ─► actuator.Servo (moved by the scene between transactions)
//	host bytes ◄── wire: time of every byte, collisions, adapter ◄── answers ◄─┘
//
// # Trying a program
//
//	physics := actuator.NewServo(spec)           a motor, its gear and a load; spec by actuator.Lookup(name)
//	s := vendor.New(model, 1, physics, emulator.GroundTruth{})     of the vendor's folder
//	bus := emulator.NewBus(emulator.BusConfig{Name: "bench", Baud: 1_000_000}, s)
//	line := bus.Line()                           what the program has for serial.Open; or bus.ServePTY, for any program
//	physics.Step(0.001), bus.Advance(dt)         the world, between the program's cycles: nothing else moves
//	bus.Fault(wire.Fault{..})                    what goes wrong, and for how long
//	s.Register("present_position")               what its register holds now, past the wire
//
// A bus's servos are all of one vendor. In memory one goroutine calls line and bus; on a pty the bus has its own, and
// BusConfig.Mutex is to be held around Step. Positions are ticks on the wire, radians in
// the physics, and GroundTruth lies between.
//
// # How true it is
//
// One Bus has one clock. In memory (Line) it is virtual: a transfer returns at once and moves the clock by its wire
// time. On a pseudo terminal (ServePTY) it is the wall's. Registers act on the actuator when they are written and
// measure it when they are read; nothing moves but by the scene.
//
// Decisions where the sources are silent or the servos of the field differ are in each vendor's folder.
package emulator
