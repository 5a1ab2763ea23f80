// Package rays drives laser scanners on a serial line or TCP: SICK LMS200 and LMS291, Hokuyo's of SCIP 2.0, RPLIDAR. Each is a
// drivers.Sensor of kind "range": metres, one a ray, from the scanner's right to its left. NaN is what was not measured, +Inf
// where the scanner says that nothing is within its reach. How many rays there are, and where they look, is known before Open.
//
//	SICK     02 ADR LEN16 body CRC16           binary, CRC over all
//	SCIP     lines of text, each with a sum    a scan is a block that an empty line ends
//	RPLIDAR  A5 CMD ..  ->  A5 5A LEN30|MODE TYPE, then packets of that type for ever
//
// Read waits for the next scan that ends after its call, so that a scan's time is the time of Read's return. A scan is handed
// on whole or not at all. A line that was lost, and a scanner without its settings, are opened anew by whoever polls it.
//
// Not here: partial scans and reflectivity of a SICK, intensities of a Hokuyo, and the scans of an RPLIDAR that only some models have
// (ultra capsules 84, dense ones 85, HQ 83): each of them has the express scan of mode 0, which is the one asked for. The clock of a Hokuyo,
// 24 bits of milliseconds, is decoded and not used: a scan is as old as its last byte.
//
// Sources: SICK "Telegrams for operating/configuring the LMS 2xx" (8007954), Hokuyo "Communication protocol specification
// for SCIP 2.0" (C-42-03320-1), SLAMTEC "RPLIDAR interface protocol and application notes" (LR001, v2.x). No hardware has been
// tried.
package rays
