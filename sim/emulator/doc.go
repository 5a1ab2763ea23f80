// Package emulator emulates bus servos byte for byte: a register file on top of each simulated actuator, all servos of
// one line behind one adapter, and the faults of the line. Drivers and vendor SDKs work on it unchanged. A vendor's
// folder consists of a Kind, the effects of its registers, and a Protocol, its packets.
//
//	host bytes ─► Bus: Protocol ─► Servo: rules, registers ─► actuator.Servo (moved by the scene between transactions)
//	host bytes ◄── wire: time of every byte, collisions, adapter ◄── replies ◄─┘
//
// # Trying a program
//
//	physics := actuator.NewServo(spec)           a motor, its gear and a load; spec by actuator.Lookup(name)
//	s := vendor.New(model, 1, physics, emulator.GroundTruth{})     of the vendor's folder
//	bus := emulator.NewBus(emulator.BusConfig{Name: "bench", Baud: 1_000_000}, s)
//	line := bus.Line()                           in place of serial.Open; or bus.ServePTY, for any program
//	physics.Step(0.001), bus.Advance(dt)         the world, between the program's cycles; only this moves the servo
//	bus.Fault(wire.Fault{..})                    a fault, and its duration
//	s.Register("present_position")               the present value of a register, without the wire
//
// A bus's servos are all of one vendor. In memory one goroutine calls line and bus; on a pty the bus has its own, and
// BusConfig.Mutex must be held around Step. Positions are ticks on the wire and radians in the physics; GroundTruth
// converts between them.
//
// # Fidelity
//
// One Bus has one clock. In memory (Line) it is virtual: a transfer returns at once and advances the clock by its wire
// time. On a pseudo terminal (ServePTY) it is the wall clock. A write to a register acts on the actuator at once, and a
// read measures it; only the scene moves it.
//
// Each vendor's folder documents decisions for behaviour that the sources do not specify or that differs between
// servos.
package emulator
