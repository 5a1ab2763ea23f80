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
// Nothing is captured while nobody watches: the device is opened for the first viewer and closed behind the last, so that
// its light is off and other programs may have it. Frames are MJPEG or raw (YUYV, RGB24, GREY); pictures are hal.Picture's
// RGB. A frame that is cut off, of another size or marked as damaged by the kernel is counted and shown to nobody. What
// JPEG and raw frames have no checksum for, a flipped bit within the pixels, nobody can tell.
//
// A camera that is lost (unplugged, or silent) is looked for five times a second under the path of the config, which is
// followed anew each time: below /dev/v4l/by-id it finds the same camera whatever number it has now.
package camera
