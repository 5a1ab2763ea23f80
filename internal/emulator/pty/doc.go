// Package pty opens pseudo terminals in place of a serial adapter: the tty for a client, and its other end for the
// device. They are raw from the start; the client's baud rate can be read. Linux only; elsewhere Open is an error.
//
// Source: ptmx(4), ioctl_tty(2).
package pty
