// Package imageserver implements USARSim's image server: over TCP each client receives pictures of one camera, one per
// acknowledgement, at most at the configured frame rate.
//
// # A session
//
//	client            server
//	                  picture ──►   at once
//	◄── OK
//	                  picture ──►   when the frame rate's next instant has come, and so on until the end of file
//
// # Grammar
//
//	picture = type(1) size(4) data(size)     big-endian
//	type    = 0 raw | 1 JPEG, super | 2 good | 3 normal | 4 average | 5 bad quality
//	raw     = width(2) height(2) { red green blue }     left to right, top to bottom, no padding
//	client  = "OK" | later: "U" x(4) y(4) width(4) height(4)     only that part of the next picture
//
// Other bytes of the client are skipped: some end their OK with a line end. A client that never acknowledges gets one
// picture; after a second without an acknowledgement the server stops rendering for it.
//
// # Viewpoints
//
// SET {Type Camera} {Robot r} {Name c} {Client ip} of Gamebots sets the viewpoint of an address. The address is the
// client's own or, as in the original, in which one Unreal client drew for all, that of the image server's machine.
// The default is the first camera of the first robot. Without a robot the picture is black.
//
// SET {Type Viewports} of Gamebots shows one camera of its connection's robot, or four in one picture, to the clients
// at the connection's address: "10.0.0.2 R1/Front,Rear,, 10.0.0.2:4711". The view belongs to the connection: a client
// that has received the viewports of one connection gets no other's, so that two programs on one machine each see their
// own robot.
//
// The viewpoints are one value of the rig, /ImageServer/View. "10.0.0.2 R1/Camera" selects the camera called Camera of
// the agent R1 for the client at 10.0.0.2, "10.0.0.2 R1" its first camera; "10.0.0.2" removes the viewpoint. The value
// lists all viewpoints, one a line.
//
// # Not specified in the manual
//
// The manual does not specify the byte order; the image server of the later USARSim is big-endian. The qualities are
// those of the names in the original's image library (100, 75, 50, 25 and 10 of 100).
package imageserver
