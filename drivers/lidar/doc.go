// Package lidar drives laser scanners on a serial line or TCP: SICK LMS200 and LMS291, Hokuyo with SCIP 2.0, RPLIDAR.
// Each is a drivers.Sensor of kind "range": metres, one a ray, from the scanner's right to its left. NaN means not
// measured, +Inf no echo within range. The number of rays and their directions are known before Open.
//
//	SICK     02 ADR LEN16 body CRC16           binary, CRC over all
//	SCIP     lines of text, each with a sum    a scan is a block that ends with an empty line
//	RPLIDAR  A5 CMD ..  ->  A5 5A LEN30|MODE TYPE, then packets of that type for ever
//
// Read waits for the next scan that ends after its call, so that a scan's time is the time of Read's return. A scan is
// returned whole or not at all. After a lost line, or a scanner that lost its settings, call Open again.
//
// # A session
//
//	laser, err := lidar.NewSICK(..)              no I/O; hal.Invalid for settings that the model does not support
//	rays := laser.Geometry()                     number of rays and their angles, rad to the left of straight ahead
//	laser.Open()                                 find it at any rate, configure it, start measuring: 50 ms to some seconds
//	laser.Read(metres)                           waits for the next whole scan: 25 to 200 ms
//	laser.Close()                                it stops measuring; the line is closed
//
// The settings' Line opens the line, again at each Open; only the scanner uses it. One goroutine at a time calls a
// scanner. Errors are a *hal.Error. hal.Absent: the line is lost, another device replies, or the scanner stopped
// measuring (Open it again). hal.BusFault: a corrupt scan. hal.Timeout: a late scan. After an error metres are
// undefined.
//
//	LMS200, LMS291   100° or 180° by 1°, 0.5° or, at 100°, 0.25°; 8, 16 or 32 m in mm, 80 m in cm; 5 to 75 scans a second
//	Hokuyo           by model: 240° by 0.35° to 5.6 m, or 270° by 0.25° to 30 or 60 m; 10 to 40 scans a second
//	RPLIDAR          360° in 8 to 3600 rays, to 12 m (A1) or 16 m (limit of its express scan); 5 to 10 turns a second
//
// Not supported: partial scans and reflectivity of a SICK, intensities of a Hokuyo, HQ scans (83) and ultra-dense ones
// (86) of an RPLIDAR. The clock of a Hokuyo, 24 bits of milliseconds, is decoded and not used: the time of a scan is
// that of its last byte.
//
// Sources: SICK "Telegrams for operating/configuring the LMS 2xx" (8007954), Hokuyo "Communication protocol
// specification for SCIP 2.0" (C-42-03320-1), SLAMTEC "RPLIDAR interface protocol and application notes" (LR001, v2.x).
// Where real scanners differ from the latter, SLAMTEC's SDK: shifts of express samples have no sign. Captured bytes of
// a real A1, A3, URG-04LX and LMS decode correctly; not tested on hardware.
package lidar
