// Package laser emulates laser scanners: an LMS200, a Hokuyo and an RPLIDAR that scan a Scene. It uses the tables of
// drivers/lidar. Each scanner is a wire.Board.
//
//	driver ◄── telegrams ──► board: modes, rates, a turn of the mirror ──rays──► Scene
package laser

import "time"

// Scene is the scene of a scanner, at the cycle's edge. Ranges[i] becomes the distance along the ray at first + i·step,
// rad to the left of the scanner's straight ahead, m; +Inf without an object.
type Scene interface {
	Scan(first, step float64, ranges []float64)
}

// thinking is how long a board takes for an answer.
const thinking = 2 * time.Millisecond
