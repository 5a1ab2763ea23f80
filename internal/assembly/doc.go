// Package assembly opens a plan: lines, devices, emulated worlds, agents, cameras, servers and spawned robots. Build opens
// all that a plan names, or nothing.
package assembly
