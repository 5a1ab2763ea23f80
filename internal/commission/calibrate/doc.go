// Package calibrate makes, converts, compares and checks the calibration files of a config's joints. Results are data;
// the command prints them.
package calibrate
