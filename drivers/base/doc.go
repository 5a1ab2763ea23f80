// Package base drives robot bases with P2OS or ARCOS firmware over a serial line: Pioneer 2 and 3, AmigoBot and others.
//
//	packet    FA FB COUNT data.. CHKH CHKL          COUNT = len(data)+2, the whole at most 200 bytes
//	command   data = OP [KIND LOW HIGH | 2B LEN text..]     KIND 3B: a number of 0 and more, 1B: minus the number
//	report    data = TYPE ..                        ten times a second, see Report
//
// A session: the base echoes SYNC0, SYNC1 and SYNC2, the last with the robot's names; OPEN starts the reports. The watchdog
// of the base stops it after two seconds without a packet. This driver sends packets only in Send: if the cycle stops, the
// base stops.
//
//	knocking ─echo─► syncing 1 ─echo─► syncing 2 ─names─► opening ─report─► running ─silence─► knocking
//
// SYNC0 is PULSE, too: a base whose cable was out for a moment goes on where it was. One that was without power
// has to be opened again, and its motors stay off until they are enabled again, explicitly.
//
// # Using it
//
//	robot, err := base.RobotOf("p3dx")           what its numbers mean: metres, m/s, rad
//	b, err := base.New(base.Settings{..})        no I/O
//	b.Open()                                     a session; that it is the robot it should be; nothing moves: up to 3 s
//	b.SetGoal(wheel, servo.Goal{..})             rad/s of the wheel: m/s over robot.Radius, to robot.MaxSpeed
//	b.Send(), b.Receive()                        one cycle, ten times a second, say; neither blocks
//	b.State(wheel), b.Source(..).Latest(..)      what the base said last, and how long ago
//	b.Halt()                                     stopped, motors off, and heard to be: up to a second
//	b.Close()
//
// It is a servo.Chain: package servo describes what a goal's Enable does and how errors and a lost line are told. Its units are
// there too, but that ticks are millimetres of a wheel's rim; what Source gives is in SI units, as each Sense says.
//
// At 9600 baud a hundred milliseconds carry 96 bytes: the report of a base with two sonar rings takes 60 of them. Who asks for
// encoders, gyro and inputs as well wants 38400, or gets every second report.
//
// Sources: Pioneer 2 and Pioneer 3 operations manuals (ActivMedia, MobileRobots), chapters "P2OS"
// and "ARCOS"; units of the robots as in ARIA's and Player's parameter files. No hardware has been tried.
package base
