// Package base drives robot bases with P2OS or ARCOS firmware over a serial line: Pioneer 2 and 3, AmigoBot and others.
//
//	packet    FA FB COUNT data.. CHKH CHKL          COUNT = len(data)+2, the whole at most 200 bytes
//	command   data = OP [KIND LOW HIGH | 2B LEN text..]     KIND 3B: a number of 0 and more, 1B: minus the number
//	report    data = TYPE ..                        ten times a second, see Report
//
// A session: the base echoes SYNC0, SYNC1 and SYNC2, the last with the robot's names; OPEN starts the reports. The
// watchdog of the base stops it after two seconds without a packet. This driver sends packets only in Send: if the
// cycle stops, the base stops.
//
//	knocking ─echo─► syncing 1 ─echo─► syncing 2 ─names─► opening ─report─► running ─silence─► knocking
//
// SYNC0 is also PULSE: after a short loss of the cable the session continues. After a power loss the base must be
// opened again, and its motors stay off until they are explicitly enabled again.
//
// # Using it
//
//	robot, err := base.RobotOf("p3dx")           the units of its values: metres, m/s, rad
//	b, err := base.New(base.Settings{..})        no I/O
//	b.Open()                                     open a session, check the robot type; nothing moves: up to 3 s
//	b.SetGoal(wheel, servo.Goal{..})             rad/s of the wheel: m/s over robot.Radius, to robot.MaxSpeed
//	b.Send(), b.Receive()                        one cycle, for example ten times a second; neither blocks
//	b.State(wheel), b.Source(..).Latest(..)      the last reported values, and their age
//	b.Halt()                                     stopped, motors off, and confirmed: up to a second
//	b.Close()
//
// It is a servo.Chain: see package servo for a goal's Enable, errors, a lost line, and units. Ticks are millimetres of
// a wheel's rim; values of Source are in SI units, as described at each Sense.
//
// At 9600 baud the line carries 96 bytes in a hundred milliseconds: the report of a base with two sonar rings takes 60.
// With encoders, gyro and inputs use 38400, or the base sends only every second report.
//
// Sources: Pioneer 2 and Pioneer 3 operations manuals (ActivMedia, MobileRobots), chapters "P2OS"
// and "ARCOS"; units of the robots as in ARIA's and Player's parameter files. Not tested on hardware.
package base
