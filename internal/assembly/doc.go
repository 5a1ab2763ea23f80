// Package assembly opens a plan: lines, devices, emulated worlds, agents, cameras, servers and spawned robots. Build
// opens the whole plan, or nothing.
package assembly
