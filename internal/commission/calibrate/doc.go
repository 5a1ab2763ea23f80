// Package calibrate makes, keeps and compares the calibration files of a config's joints: it imports other programs' files and
// exports them, shows, compares and brings back versions, and measures joints with a person's hand.
package calibrate
