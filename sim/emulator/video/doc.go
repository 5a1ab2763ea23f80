// Package video is a camera from the other side of V4L2: what the kernel and a USB camera do together, in memory. A driver
// must not be able to tell it from a file below /dev.
//
//	hal.ImageStream of the simulated camera ─► feeder: one frame a period ─► queued buffer ─► full buffer ─► DQBUF
//	                                                    faults ─┘            ioctls, by the tables of drivers/camera
//
// Time is virtual: Advance moves the device's clock, by which frames are due and stamped. The device asks for a picture
// when a frame is due and a buffer waits for it, so nothing is rendered that nobody streams.
package video
