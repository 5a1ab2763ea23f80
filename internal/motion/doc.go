// Package motion reads recorded motions: one line a sample, in the format of the A-Series humanoid's recordings.
package motion
