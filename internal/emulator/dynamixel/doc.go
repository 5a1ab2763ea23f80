// Package dynamixel emulates Dynamixel servos of both protocols: registers, rules and packets.
//
// Decisions for behaviour that the sources do not specify, or that differs between servos:
//
//   - A missing reply in a sync or bulk read blocks those after it (DynamixelSDK issue 364); Timing.SkipSilent is for
//     firmware that continues. A missing servo in the middle of a fast read truncates the common reply.
//   - A packet with a bad checksum is not answered, in either protocol.
//   - A broadcast ping is answered in the order of IDs in 2.0; in 1.0 all answer at once, on top of each other.
//   - A write that would break a rule in any of its registers changes none.
//   - A write to an ID or baud rate is answered with the old one.
//   - 1.0 answers a write to a locked or read-only register, or beyond the table, with the range bit.
//   - At torque-on a servo moves to its goal register, which is the present position only after power-on.
package dynamixel
