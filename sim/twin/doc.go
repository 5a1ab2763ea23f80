// Package twin names why a joint differs from its simulated twin.
//
// A recording of one joint holds goals, positions, efforts and voltages. Each cause is a change of the same servo model that robots are
// simulated and servos identified with; it has one size, which is fitted. The cause that explains the recording best is named, with its
// size and how much of the difference it explains; none, where no cause explains clearly more than chance.
package twin
