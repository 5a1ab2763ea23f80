// Package cybergear drives chains of Xiaomi CyberGear actuators on a CAN bus: the codec, the parameters and models as
// data, and the bus cycle (Chain).
//
// 1 Mbit/s, extended frames of 8 bytes. The identifier describes what a frame is, and for whom:
//
//	28..24 type   23..8 data of the type   7..0 target
//
//	0   who is there        host     -> 0: motor in 23..8, target FE, its serial number
//	1   motion              torque   angle, speed, kp, kd: 16 bits each, big-endian        -> 2
//	2   feedback            mode, faults, motor    angle, speed, torque, 0.1 °C, likewise; target is the host
//	3   enable              host     -> 2
//	4   stop                host     byte 0 = 1 clears faults                              -> 2
//	6   zero here           host     byte 0 = 1; lost with the power                       -> 2
//	7   another id          host in 15..8, the new id in 23..16; kept                      -> 0 of the new id
//	17  read parameter      host     index, 0                    -> 17 with the value in bytes 4..7
//	18  write parameter     host     index, 0, value; lost with the power                  -> 2
//	21  faults              motor    faults, warnings
//
// Indices and values of parameters are little-endian. Every command is answered, by feedback mostly: a goal and a
// measurement are one frame each.
//
// A session, what blocks and what errors mean are as in package servo. Ticks: 16384 a turn of the output shaft from its
// zero, within ±12.5 rad. Efforts are A of motor current, velocities rad/s of the output shaft, to 30. Modes: position,
// velocity and torque. IDs are 0..127.
//
// Source: "CyberGear micromotor instruction manual", sections 3.3 and 4 (Xiaomi; in English, belovictor/cybergear-docs).
// Its text has the angle's range as ±4π, its code as ±12.5; this is ±12.5. It says of CAN_TIMEOUT neither its unit nor
// that a frame may write it: 50 µs, and type 18, are what the maker's later motors have.
package cybergear
