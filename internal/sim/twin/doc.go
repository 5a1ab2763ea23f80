// Package twin finds the cause of a difference between a joint and its simulated twin.
//
// A recording of one joint holds goals, positions, efforts and voltages. Each cause is a change of the servo model that
// is also used for simulation and identification. It has one size, which is fitted. The result is the cause that
// explains the recording best, with its size and the share of the difference that it explains. The cause is None if
// none explains significantly more than chance.
package twin
