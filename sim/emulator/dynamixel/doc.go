// Package dynamixel emulates Dynamixel servos of both protocols: registers, rules and packets.
//
// Decisions where the sources are silent or the servos of the field differ:
//
//   - A silent servo in a sync or bulk read silences those after it (DynamixelSDK issue 364); Timing.SkipSilent is for
//     firmware that goes on. A middle one missing in a fast read truncates the common answer.
//   - A packet with a bad checksum is not answered, in either protocol.
//   - A broadcast ping is answered in the order of IDs in 2.0; in 1.0 all answer at once, on top of each other.
//   - A write that would break a rule in any of its registers changes none.
//   - A write to an ID or baud rate is answered with the old one.
//   - 1.0 answers a write to a locked or read-only register, or beyond the table, with the range bit.
//   - What a servo does at torque-on is go to its goal register, which is the present position after power-on only.
package dynamixel
