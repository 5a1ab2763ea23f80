// Package bench measures what decides on a robot's own computer: the real-time loop, the lines of servos, the time of a
// stop. It has the parts with which cmd/halyard-lab measures the rest.
package bench
