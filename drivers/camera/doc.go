// Package camera is cameras that the Linux kernel drives: V4L2's streaming interface, by ioctls alone, without cgo.
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
//	poll, DQBUF, QBUF, poll ...   the newest frame is decoded if somebody waits for it, and none else
//	STREAMOFF, munmap, close
//
// For its user:
//
//	cam, err := camera.New(camera.Config{..})    no I/O; hal.Invalid where the config asks for what cannot be
//	cam.Open()                                   looks whether the camera is there and offers that; it captures nothing yet
//	view, err := cam.Watch(0)                    any number of them, from any goroutine
//	picture, err := view.Next(ctx, last)         blocks until there is one newer than number last, 0 = any
//	picture.Release()                            gives its memory back; then it must not be looked at
//	view.Close(), cam.Close()
//
// Errors of Open: hal.Absent where there is no such camera, hal.Busy where another program streams or access is denied (group
// video), hal.Invalid where it does not offer the size or the encoding. Next's is the context's, or reports that the camera is
// gone; whoever calls it again waits for its return.
//
// Nothing is captured while nobody watches: the device is opened for the first viewer and closed behind the last, so that
// its light is off and other programs may have it. Frames are MJPEG or raw (YUYV, RGB24, GREY); pictures are hal.Picture's
// RGB. A frame that is cut off, of another size or marked as damaged by the kernel is counted and shown to nobody. What
// JPEG and raw frames have no checksum for, a flipped bit within the pixels, nobody can tell.
//
// A camera that is lost (unplugged, or silent) is looked for five times a second under the path of the config, which is
// followed again each time: below /dev/v4l/by-id it finds the same camera whatever number it has now.
//
// Sources: the kernel's media documentation and include/uapi/linux/videodev2.h; ITU-T T.81 and BT.601. No hardware has been
// tried.
package camera
