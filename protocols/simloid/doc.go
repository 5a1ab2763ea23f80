// Package simloid implements the protocol of Simloid 0.1.0: over TCP a client receives the description of a robot, then
// reads its sensors and commands its motors each cycle. Server serves one agent of a rig; Client is the other side, for
// tests, benchmarks and controllers in Go.
//
// # A session
//
//	client                                   server
//	                                         traits ──►   one write
//	◄── ACK\n
//	                                         status ──►   one write; time 0.010000
//	◄── commands, DONE\n
//	                                         status ──►   one period later, and so on until EXIT or the end of file
//
// # Grammar
//
//	traits  = bodies joints accels \n { index type partner low high default name \n } [later: { index name \n }]
//	status  = time { position } { velocity } [later: { current }] { x y z } { x y z vx vy vz } end
//	end     = \n [later: a blank]
//	command = UX u...   UA u   UI joint u       voltage, -1..1 of the supply
//	        | PX p...   PA p   PI joint p       position, -1..1 = -180°..180°
//	        | TX t...   TA t   TI joint t       maximum torque of the position controller, 0..1
//	        | FX x y z...  FA x y z  FI body x y z  IM body x y z     force for one step, N
//	        | GRAVITY ON | GRAVITY OFF | RESET | SAVE | RESTORE | NEWTIME | DONE | EXIT
//	later   | RECORD | PAUSE | MODEL id n p... | MOTOR n p... | SENSORS POOR | SENSORS GOOD | FIXED body
//	        | DESCRIPTION | INTERLACED MODE | SEQUENTIAL MODE | ACK (as DONE)
//
// Numbers of a status have six decimals and one blank between them; those of the traits are in %e. A command is
// recognised by the start of its line, in capitals; text after its last number is ignored.
//
// # Units
//
//	position, stops, default   angle/π, clipped; of a joint without stops wrapped to ±π
//	velocity                   rad/s over 4π (two turns a second), clipped
//	acceleration               m/s² over 8 g, clipped; at rest it measures gravity upwards
//	body position, velocity    m, m/s, in the world
//
// Positions, velocities and accelerations are cut to 16 bits, after noise of deviation 16 units and at most 64.
//
// # Where the document and the original differ
//
//   - The document ends a status with \n, the original with a blank. The document's dialect sends \n, the later one the
//     blank. The original's client only checks that there is one byte. Client accepts either.
//   - The document has IM, the original FI; both are accepted, and so are FA and FX.
//   - A line with too few numbers sets the joints that it has numbers for; one with too many sets all. A malformed, NaN or
//     infinite number rejects the whole line, without an answer.
//   - More than 42 unknown lines before a DONE end the session; in the original they ended the simulator.
//   - The original served one client and then exited. This server accepts the next client, which finds a simulated robot in
//     its initial state. It closes the connection of a second client while one is connected.
//   - SAVE also stores the joints' commands, so that the same commands after RESTORE repeat every digit. RESET, SAVE and
//     RESTORE apply to the whole world, with all its robots. On a real robot RESET is a slow move, and the other two are
//     refused.
//   - The later dialect (2018 to 2020, an option) sends the names of bodies and the motors' currents, and is
//     interlaced: the status that answers DONE shows the world before that step, so that client and server compute
//     concurrently. A NEWTIME or RESET therefore shows one status later.
package simloid
