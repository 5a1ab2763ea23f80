// Package chaos runs robots through random schedules of commands, stops, faults and late hosts, in virtual time, and
// judges each cycle by the emulator's truth: what the motors do, not what the rig believes.
//
// A schedule is made of a seed and is text that can be edited and run again. A violation is reduced to the shortest
// schedule that still shows it. The same seed gives the same result on every machine.
package chaos
