// Package bundle makes reports of robots that do not work, and runs them again elsewhere.
//
// A report is one zip file: the version, the config with its files, the doctor's findings, the registers of servos, the
// log, and the traffic of every line that the doctor used. Replay turns the traffic into lines in memory: a request
// gets the answers that it got then, in their order, then from the first again; what was silent stays silent. The
// doctor and the drivers run on these lines as on the robot, so that a report is a test.
//
// Traffic has no rule for one protocol: a request is what a driver writes at once, which is one frame or several whole
// ones. Lines of servos, serial devices, I2C buses and SPI ports have traffic. GPIO chips, cameras and the machine
// itself have none: their findings are those of the report.
package bundle
