// Package drivers implements the hardware Body: joints on servo chains, PWM outputs and sensors, real or emulated. It
// converts between devices and the layout with each device's calibration. It uses devices through interfaces,
// independent of vendors.
//
//	Write: radians ─calibration─► ticks ─► Chain.SetGoal      the rig calls Chain.Send
//	Read:  radians ◄─calibration─ ticks ◄─ Chain.State        the rig called Chain.Receive
//	Write: rad, N  ─calibration─► pulse ─► OutputWriter.Stage       an OutputWriter writes an Output in its own goroutine
//	Read:  values with their age ◄──────── Poller.Latest      a Poller reads a Sensor in its own goroutine
//
// Calibration is applied only here; chains use ticks.
//
// # A robot
//
//	chains, writers, pollers                     made and opened by the owner of the devices; see servo and the folders here
//	layout                                       channels of the robot: goals, measured values, limits; SI units, rad
//	body, err := drivers.NewBody(layout, joints) no I/O; reports all mismatches together
//	body.AttachSensor("imu", poller, 0)          connect a sensor of the layout to its device
//	each cycle: body.Write(frame), then Send and Receive of every chain, writer and poller, then body.Read(frame)
//	body.Halt()                                  torque and pulses off on all lines at once; one error per device that did not confirm
//
// A hal.Rig runs the cycle behind a guard; a program without a rig makes these calls itself. Write and Read do no I/O.
// An Enable of false in the frame switches a joint's torque off; NaN in an input means no command. Body does not own
// its devices: their owner closes them after the last Halt.
//
// A Sensor is a chip or board that measures, an Output a board that makes pulses: drivers/imu, pressure, adc, lidar,
// rfid, gpio and pwm implement them. Their I/O blocks, so a Poller or an OutputWriter calls them in its own goroutine:
// the cycle never waits, every value has an age, and a lost device is opened again.
//
// Errors are a *hal.Error, with the joint or the sensor. NewBody returns hal.Uncalibrated (a real joint without its
// calibration) or hal.Invalid. Errors of a cycle are in the frame's Status of each device, whose values are then the
// last good ones.
package drivers
