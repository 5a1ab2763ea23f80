// Package servo defines the interface to smart servos and motor controllers.
//
// A Line is a serial or CAN connection. A Chain controls all devices on one line; each vendor package implements it,
// and Driver with all the rest that a vendor has: models, line, probes and tool. Goal is the command and State the
// feedback of one device.
//
// # A session
//
//	line, err := serial.Open(path, baud, "")     or can.Open; in a test servotest.Play, or sim/emulator's
//	chain := driver.Chain(servo.ChainConfig{..}) no I/O; the chain owns the line from here on
//	chain.Open()                                 identify each device and check its settings; report all errors together
//	chain.SetGoal(i, goal)                       staged, no I/O
//	chain.Send()                                 write all goals
//	chain.Receive()                              request and receive the state of all
//	chain.State(i)                               last state of servo i, no I/O; SetGoal to here is one cycle
//	chain.Halt()                                 torque off, twice, and verified: one error per device that did not confirm
//	chain.Close()                                close the line; torque stays as it is
//
// One goroutine calls a chain, and only the chain uses its line. The index of a servo is its index in the chain's
// config.
//
// Open moves nothing and enables no torque. A Goal with Enable switches torque on at the present position in that
// cycle; the commanded motion follows in a later cycle. The zero Goal, and a Goal with a Limit of 0, switch torque off;
// a Limit of 1 is the full effort. A servo that loses torque by itself (power, latched alarm, lost line) keeps torque
// off until Enable has been false once. State.Inhibit gives the reason; the vendor's ClearAlarm clears a latched alarm.
//
// # Units
//
// Positions are ticks: Units gives ticks per turn, the centre and the range of the position mode; package calibration
// converts ticks to radians. Velocities are rad/s of the output shaft, efforts A or a share of the stall torque,
// voltages V, temperatures °C. Goals are limited to the range of the servo. NaN means not measured or not received yet.
//
// # Time and errors
//
// Send blocks for the writing, Receive for the answers: their bytes' time at the line's rate (WireTime of the chain),
// the servos' return delays, and for each request without a reply Slack and the adapter's latency. A servo that does
// not reply is polled less often, so that it does not delay the others.
//
// Send and Receive return an error when the line is lost, and while it is; with a Reopen in the config they try to open
// it again. The error of one servo is its State.Err; its values are the last good ones. errors.Is distinguishes
// ErrNoReply, ErrCorrupt and ErrLost. All are a *hal.Error with bus, id and joint; hal.KindOf returns hal.Absent (no
// such servo or line), hal.Timeout (no reply), hal.BusFault (damaged replies, a refusal) or hal.Invalid (unsupported
// config).
package servo
