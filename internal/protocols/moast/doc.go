// Package moast defines the messages of MOAST, NIST's 4D/RCS controller for mobile robots: commands, statuses,
// configurations and settings of each module, and the data that modules exchange. Package nml carries them.
//
// # Modules and buffers
//
// A module controls one function (mobility JA, mission JA, effectors, sensor processing SP, planning PL) at one echelon
// (servo, prim, am, veh, sect). It has four buffers, named module, role, vehicle and, where several, subsystem:
//
//	primMobJACmd1 primMobJAStat1 primMobJACfg1 primMobJASet1    servoMisJACmd1_2 ...
//
// A superior writes Cmd and Cfg and reads Stat and Set. Ids are a base of the module, plus 0 for commands, 100 for
// statuses, 200 for configurations, 300 for settings, and a number. Names of types are those of the C++ classes, which
// its symbol lookup prints: PrimMobJACmdVel.
//
// # Coordinates
//
// Metres, radians, seconds. Absolute poses: x north (UTM), y east, z down. Vehicle: x ahead, y right, z down. Yaw is
// clockwise from above, wheel speeds are rad/s.
//
// # Sources
//
// Messages, ids and field orders of servoMobJA, primMobJA, primSP, amMobJA, amSP, navDataExt and sensorData are those
// of the headers that NIST published; the test compares each with bytes from rcslib. The other modules' headers were
// not published: ids of sectMobPL are from the specification, fields of ServoMisJA from the published program that
// prints them; ids and field orders of ServoSP, ServoMisJA, ServoEffJA, VehMobPL and VehSP are ours, and so is the rest
// of SectMobPLCmdExplore.
package moast
