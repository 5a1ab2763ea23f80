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
// picture, and after a while nothing is rendered for it any more.
//
// # What it shows
//
// A viewpoint is set by address, by SET {Type Camera} {Robot r} {Name c} {Client ip} of Gamebots. The address is the
// client's own or, as in the original, where one Unreal client drew for all, that of the machine of the image server.
// Without one it is the first camera of the first robot. While there is no robot it is black.
//
// SET {Type Viewports} of Gamebots shows one camera of its connection's robot, or four in one picture, to the clients at the
// connection's address: "10.0.0.2 R1/Front,Rear,, 10.0.0.2:4711". The view belongs to the connection: a client that has seen
// the viewports of one sees no other's, so that two programs of one machine have each its own robot before it.
//
// The viewpoints are one value of the rig, /ImageServer/View: set to "10.0.0.2 R1/Camera" the client at 10.0.0.2 looks
// through the camera called Camera of the agent R1, to "10.0.0.2 R1" through its first one; "10.0.0.2" lets go of it.
// Its value is all of them, one a line.
//
// # Where the manual says nothing
//
// It says nothing of the order of bytes; the image server of the later USARSim has it big-endian. The qualities are those
// of the names in the original's image library (100, 75, 50, 25 and 10 of 100).
package imageserver
