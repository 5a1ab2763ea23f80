// Package camera captures images from V4L2 devices, by ioctls and without cgo.
//
//	viewer ─► Watch.Next ◄─ picture ◄─ Camera's goroutine ◄─ decode ◄─ stream ─► Node: ioctls, mapped memory
//	                                                                               └─ the kernel's, or an emulated one
//
// A session, as the kernel's document has it (Documentation/userspace-api/media/v4l: "Video Capture Interface", "Streaming
// I/O (Memory Mapping)"):
//
//	QUERYCAP                      it captures, and streams
//	ENUM_FMT, ENUM_FRAMESIZES     it offers what the config asks for
//	S_FMT, S_PARM                 ask for it; what the driver makes of it must be the same
//	REQBUFS, QUERYBUF, mmap       four buffers that both sides see
//	QBUF each, STREAMON
//	poll, DQBUF, QBUF, poll ...   the newest frame is decoded only if a viewer waits for it
//	STREAMOFF, munmap, close
//
// For its user:
//
//	cam, err := camera.New(camera.Config{..})    no I/O; hal.Invalid where the config asks for what cannot be
//	cam.Open()                                   checks that the camera exists and supports the config; captures nothing yet
//	view, err := cam.Watch(0)                    any number of viewers, from any goroutine
//	picture, err := view.Next(ctx, last)         blocks until there is one newer than number last, 0 = any
//	picture.Release()                            gives its memory back; then it must not be looked at
//	view.Close(), cam.Close()
//
// Errors of Open: hal.Absent where there is no such camera, hal.Busy where another program streams or access is denied (group
// video), hal.Invalid where it does not offer the size or the encoding. Next's is the context's, or reports that the camera is
// gone; call it again to wait for its return.
//
// The device is open only while there are viewers: other programs can use it otherwise, and its light is off. Frames are MJPEG or raw (YUYV, RGB24, GREY); pictures are hal.Picture's
// RGB. A truncated frame, one of another size, and one that the kernel marks as damaged are counted and discarded. JPEG and
// raw frames have no checksum: a flipped bit within the pixels is not detected.
//
// A camera that is lost (unplugged, or silent) is looked for five times a second under the path of the config, which is
// followed again each time: below /dev/v4l/by-id it finds the same camera whatever number it has now.
//
// Sources: the kernel's media documentation and include/uapi/linux/videodev2.h; ITU-T T.81 and BT.601. No hardware has been
// tried.
package camera
