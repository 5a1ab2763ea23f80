// Package manual moves the joints of a rig as an operator asks: to positions, to poses, and along motions that were
// recorded by hand. The command, the control socket and the dashboard share it.
//
// All of it passes the agent's guard and holds the agent's lease. A request ends with its context: the joints stop
// where they are and hold.
package manual
