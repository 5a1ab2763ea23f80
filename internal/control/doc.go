// Package control is the control socket of a running rig: a Unix socket in the user's runtime folder, named by the rig,
// over which a person stops, resets, arms and inspects it.
package control
