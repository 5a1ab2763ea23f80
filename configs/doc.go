// Package configs loads the YAML config of a rig. It holds the config types and the embedded configs.
//
// A config moves motors, so loading is strict: unknown and repeated keys, wrong types, values out of range and dangling
// references are errors. All errors are reported together, each with file, line, path, the value found, the values allowed
// and, where there is one, a fix:
//
//	robot.yaml:14:41: agents[0].hardware.joints.left_elbow.id: got 300, want 0..253
//
// Loading goes through four steps, one file each: the YAML becomes a small tree of our own (tree.go, which refuses what
// a config does not need: anchors, tags, several documents), overrides of the command line change that tree
// (override.go), reflection decodes it into the structs (decode.go), and what hangs together is completed and checked
// (check.go). Each step goes on after a fault, so the last one sees all that can be seen.
//
// The package knows no model, register or device: cmd resolves those names and reports what it finds in the same
// Faults, with Config.Fault for the place.
package configs
