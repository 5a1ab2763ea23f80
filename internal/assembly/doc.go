// Package assembly resolves a config into a plan and opens the plan: lines, devices, emulated worlds, agents, cameras,
// servers and spawned robots.
//
// Resolve opens nothing and reports every fault of the names in a config at once. Build opens all that a plan names, or
// nothing.
package assembly
