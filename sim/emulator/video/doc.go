// Package video emulates a V4L2 camera in memory: the kernel and a USB camera. Drivers work on it as on a device file.
//
//	hal.ImageStream of the simulated camera ─► feeder: one frame a period ─► queued buffer ─► full buffer ─► DQBUF
//	                                                    faults ─┘            ioctls, by the tables of drivers/camera
//
// Time is virtual: Advance moves the device's clock, by which frames are due and stamped. The device asks for a picture
// when a frame is due and a buffer waits for it, so nothing is rendered that nobody streams.
package video
