// Package cybergear drives chains of Xiaomi CyberGear actuators on a CAN bus: the codec, the parameters and models as
// data, and the bus cycle (Chain).
//
// 1 Mbit/s, extended frames of 8 bytes. The identifier holds the frame's type and target:
//
//	28..24 type   23..8 data of the type   7..0 target
//
//	0   get device ID       host     -> 0: motor in 23..8, target FE, its serial number
//	1   motion              torque   angle, speed, kp, kd: 16 bits each, big-endian        -> 2
//	2   feedback            mode, faults, motor    angle, speed, torque, 0.1 °C, likewise; target is the host
//	3   enable              host     -> 2
//	4   stop                host     byte 0 = 1 clears faults                              -> 2
//	6   set zero position   host     byte 0 = 1; lost at power-off                         -> 2
//	7   set ID              host in 15..8, the new id in 23..16; kept at power-off         -> 0 of the new id
//	17  read parameter      host     index, 0                    -> 17 with the value in bytes 4..7
//	18  write parameter     host     index, 0, value; lost at power-off                    -> 2
//	21  faults              motor    faults, warnings
//
// Indices and values of parameters are little-endian. Every command is answered, mostly by feedback: a goal and a
// measurement are one frame each.
//
// For sessions, blocking and errors see package servo. Ticks: 16384 a turn of the output shaft from its zero, within
// ±12.5 rad. Efforts are A of motor current, velocities rad/s of the output shaft, to 30. Modes: position, velocity and
// torque. IDs are 0..127.
//
// Source: "CyberGear micromotor instruction manual", sections 3.3 and 4 (Xiaomi; in English,
// belovictor/cybergear-docs). Its text specifies the angle's range as ±4π, its code as ±12.5; this package uses ±12.5.
// It does not specify the unit of CAN_TIMEOUT, nor whether type 18 may write it: 50 µs, and type 18, are taken from the
// maker's later motors.
package cybergear
