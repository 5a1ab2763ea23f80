// Package doctor checks a robot before its first motion: adapters, buses, servos, sensors, calibration and
// configuration. It moves nothing. Each finding names the next command.
package doctor
