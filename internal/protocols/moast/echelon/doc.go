// Package echelon runs MOAST's hierarchy of control for one vehicle: each module has two state machines, for commands
// and for configurations, and exchanges messages with its superior and its subordinates through NML buffers alone, so
// that any module can be left out and its buffers driven by another program.
//
//	sect  10 s    sends vehicles to unexplored places
//	veh    1 s    plans on a grid of the whole floor         SectMobPL → VehMobPL → AMMobJA → PrimMobJA → ServoMobJA
//	am   0.1 s    plans around obstacles nearby                               AMSP ◄── PrimSP ◄── ServoSP
//	prim 0.01 s   follows waypoints and arcs
//	servo 0.01 s  turns wheels, publishes sensors
//
// Each cycle a module reads its Cmd and Cfg, does one step of the command's and one of the configuration's table, and
// writes its Stat and Set. A new serial number begins a command: state NEW_COMMAND, status EXEC, then S1 and on; at the
// end S0 and DONE or ERROR. The same serial number with other fields changes the command at work. A task needs the
// administrative state INITIALIZED.
//
//	start ──► UNINITIALIZED ──INIT──► INITIALIZED ──SHUTDOWN──► SHUT_DOWN (nothing is answered)
//	               ▲──────────ABORT──────┘  HALT stops and stays
//
// INIT, HALT, ABORT and SHUTDOWN go to the subordinates first. Ours: ABORT leads to UNINITIALIZED; a module whose
// superior reads no status and writes no command for a second (AM: 3, the vehicle and the section: 30) stops its task,
// since a superior that hangs must not leave a robot moving.
//
// Poses are MOAST's: x north, y east, z down, yaw clockwise from above. Relative coordinates begin where the vehicle
// was when its modules started (ours).
package echelon
