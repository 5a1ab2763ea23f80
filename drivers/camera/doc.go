// Package camera captures images from V4L2 devices, by ioctls and without cgo.
//
//	viewer ─► Watch.Next ◄─ picture ◄─ Camera's goroutine ◄─ decode ◄─ stream ─► Node: ioctls, mapped memory
//	                                                                               └─ the kernel's, or an emulated one
//
// A session, as the kernel's document has it (Documentation/userspace-api/media/v4l: "Video Capture Interface",
// "Streaming I/O (Memory Mapping)"):
//
//	QUERYCAP                      the device captures, and streams
//	ENUM_FMT, ENUM_FRAMESIZES     it offers the config's format and size
//	S_FMT, S_PARM                 request them; the driver must return the same values
//	REQBUFS, QUERYBUF, mmap       four buffers shared with the kernel
//	QBUF each, STREAMON
//	poll, DQBUF, QBUF, poll ...   the newest frame is decoded only if a viewer waits for it
//	STREAMOFF, munmap, close
//
// For its user:
//
//	cam, err := camera.New(camera.Config{..})    no I/O; hal.Invalid if the config is invalid
//	cam.Open()                                   checks that the camera exists and supports the config; captures nothing yet
//	view, err := cam.Watch(0)                    any number of viewers, from any goroutine
//	picture, err := view.Next(ctx, last)         blocks until there is one newer than number last, 0 = any
//	picture.Release()                            gives its memory back; do not use the picture afterwards
//	view.Close(), cam.Close()
//
// Errors of Open: hal.Absent: no such camera. hal.Busy: another program streams, or access is denied (group video).
// hal.Invalid: the camera does not offer the size or the encoding. Next returns the context's error, or reports that
// the camera is lost; call it again to wait for its return.
//
// The device is open only while there are viewers: otherwise other programs can use it, and its light is off. Frames
// are MJPEG or raw (YUYV, RGB24, GREY); pictures are hal.Picture's RGB. A truncated frame, one of another size, and one
// that the kernel marks as damaged are counted and discarded. JPEG and raw frames have no checksum: a flipped bit
// within the pixels is not detected.
//
// The path of a lost camera (unplugged, or silent) is resolved and opened again five times a second. A path below
// /dev/v4l/by-id finds the same camera under any new device number.
//
// Sources: the kernel's media documentation and include/uapi/linux/videodev2.h; ITU-T T.81 and BT.601. Not tested on
// hardware.
package camera
