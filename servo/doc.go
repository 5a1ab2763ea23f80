// Package servo is what all smart servos and motor controllers share: the line they are connected to (Line), what one must do and
// what it last said (Goal, State), and all of one line (Chain), which a vendor's folder implements: servo/dynamixel,
// feetech, hiwonder, kondo, vesc, odrive, cybergear.
//
// # A session
//
//	line, err := serial.Open(path, baud, "")     or can.Open; in a test servotest.Play, or sim/emulator's
//	chain := feetech.NewChain(..)                no I/O; the line is the chain's from now on
//	chain.Open()                                 each is asked who it is and how it is set; all faults come together
//	chain.SetGoal(i, goal)                       staged, no I/O
//	chain.Send()                                 all goals are written
//	chain.Receive()                              all are asked for their state, and waited for
//	chain.State(i)                               what servo i last said, no I/O; SetGoal to here is one cycle
//	chain.Halt()                                 torque off, twice, and seen to be off: an error for each that did not say so
//	chain.Close()                                the line is closed; torque stays as it is
//
// One goroutine calls a chain, and nobody else uses its line. Servos are named by their index in the chain's config.
//
// Nothing moves and no torque goes on in Open. A Goal with Enable gives torque in that cycle, where the servo stands; what
// it is told to do follows in a later one. The zero Goal has torque off, and so is one with a Limit of 0: 1 is all that it has.
// A servo that loses its torque by itself (its power, a latched alarm, a lost line) keeps torque off until Enable has been false
// once: State.Inhibit says why, and ClearAlarm of the vendor frees a latched one.
//
// # Units
//
// Positions are the servo's own ticks: Units has how many make a turn, which is the centre, and what the position mode
// takes; package calibration makes radians of a joint of them. Velocities are rad/s of the output shaft, efforts A or
// shares of the stall torque, volts, °C. Goals beyond what the servo takes are cut off there. NaN is what it does not
// measure or has not said yet.
//
// # Time and errors
//
// Send blocks for the writing, Receive for the answers: their bytes' time at the line's rate (WireTime of the chain), the
// servos' return delays, and for each request that somebody leaves open Slack and the adapter's latency. A servo that does
// not answer is asked again at a slower pace and costs the others nothing more.
//
// Send and Receive return an error when the line is lost, and while it is; with a Reopen in the config they look for it
// again. What one servo does not do stands in its State.Err, with its values as they were: errors.Is tells ErrNoReply,
// ErrCorrupt and ErrLost apart. All are a *hal.Error with bus, id and joint: hal.KindOf tells hal.Absent (there is no
// such servo, or line), hal.Timeout (it did not answer), hal.BusFault (damaged answers, a refusal), hal.Invalid (the
// config asks for what cannot be).
package servo
