// Package laser is laser scanners from the other side of the wire: an LMS200, a Hokuyo and an RPLIDAR, made of the tables of
// drivers/lidar and looking at a Scene. Each is a wire.Board.
//
//	driver ◄── telegrams ──► board: modes, rates, a turn of the mirror ──rays──► Scene
package laser

import "time"

// Scene is what a scanner looks at, of the cycle's edge. Ranges[i] becomes the distance along the ray at first + i·step, rad
// to the left of the scanner's straight ahead, m; +Inf where there is nothing.
type Scene interface {
	Scan(first, step float64, ranges []float64)
}

// thinking is how long a board takes for an answer.
const thinking = 2 * time.Millisecond
