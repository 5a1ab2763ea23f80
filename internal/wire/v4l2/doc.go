// Package v4l2 has the ioctls and structures of Video for Linux 2, for 32- and 64-bit kernels.
//
// Both sides of the wire use it: the driver (drivers/camera) and the emulated device (sim/emulator/video).
package v4l2
