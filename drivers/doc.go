// Package drivers is the hardware Body: joints on servo chains, outputs told by pulses, and sensors, in any mixture, real
// or emulated, with each one's calibration between it and the layout. It sees devices by their shape, never a vendor.
//
//	Write: radians ─calibration─► ticks ─► Chain.SetGoal      the rig calls Chain.Send
//	Read:  radians ◄─calibration─ ticks ◄─ Chain.State        the rig called Chain.Receive
//	Write: rad, N  ─calibration─► pulse ─► OutputWriter.Stage       an OutputWriter writes an Output in its own goroutine
//	Read:  values with their age ◄──────── Poller.Latest      a Poller reads a Sensor in its own goroutine
//
// Calibration is applied here and nowhere else; what is on the far side of a chain knows ticks alone.
//
// # A robot
//
//	chains, feeders, pollers                     made and opened by whoever owns the devices; see servo and the folders here
//	layout                                       what the robot offers: goals, measured channels, limits, in SI units and rad
//	body, err := drivers.NewBody(layout, joints) no I/O; all that does not fit, together
//	body.Sense("imu", poller, 0)                 a sensor of the layout gets its values
//	each cycle: body.Write(frame), then Send and Receive of every chain, feeder and poller, then body.Read(frame)
//	body.Halt()                                  torque and pulses off on all lines at once; an error for each that did not say so
//
// A hal.Rig makes the cycle, with a guard before it; a program that has no rig calls the four by itself. Write and Read do no
// I/O. A frame's Enable of false is a limp joint; an input of NaN is no command. Body owns none of its devices: they are
// closed after the last Halt, by who opened them.
//
// Sensors are single chips and boards in one shape, Sensor, and what is told by pulses is an Output: drivers/imu, pressure,
// adc, rays, rfid, gpio and pwm have them. They take their time, so a Poller or an OutputWriter in its own goroutine uses them: the
// cycle never waits, every value has its age, and a device that was lost is opened again.
//
// Errors are a *hal.Error, with the joint or the sensor: of NewBody hal.Uncalibrated (a real joint without its calibration) or hal.Invalid;
// of a cycle in the frame's Status of each device, whose values are the last good ones then.
package drivers
