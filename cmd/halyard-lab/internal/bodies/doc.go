// Package bodies compares one robot on three bodies: a reference controller moves it through each door (protocol) while
// it is simulated, emulated in lock-step, emulated in real time, and real: its servos are then emulated in another
// process and opened on a pseudo-terminal as any serial port is.
package bodies
