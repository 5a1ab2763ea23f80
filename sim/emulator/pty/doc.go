// Package pty opens pseudo terminals that stand in for a serial adapter: what a client opens as a tty, and its other
// end, on which the device sits. Raw from the start; the client's baud rate can be asked for. Linux only; elsewhere
// Open is an error.
//
// Source: ptmx(4), ioctl_tty(2).
package pty
