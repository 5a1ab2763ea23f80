// Package video emulates a V4L2 camera in memory: the kernel and a USB camera. Drivers work on it as on a device file.
//
//	hal.ImageStream of the simulated camera ─► feeder: one frame a period ─► queued buffer ─► full buffer ─► DQBUF
//	                                                    faults ─┘            ioctls, by the tables of drivers/camera
//
// Time is virtual: Advance moves the device's clock, which schedules and stamps frames. The device requests a picture
// when a frame is due and a buffer is queued, so pictures are rendered only for a stream.
package video
