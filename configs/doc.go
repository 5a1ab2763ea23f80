// Package configs loads the YAML config of a rig. It holds the config types and the embedded configs.
//
// A config moves motors, so loading is strict: unknown and repeated keys, wrong types, values out of range and dangling
// references are errors. All errors are reported together, each with file, line, path, the value found, the values
// allowed and, if known, a fix:
//
//	robot.yaml:14:41: agents[0].hardware.joints.left_elbow.id: got 300, want 0..253
//
// Loading goes through four steps: internal/yaml reads the YAML as a tree, and refuses what a config does not need
// (anchors, tags, several documents); overrides of the command line change that tree (override.go); internal/yaml
// decodes it into the structs (config.go); and relations between keys are completed and checked (complete.go,
// check.go). Each step continues after a fault, so that as many faults as possible are found.
//
// The package has no models, registers or devices: internal/plan resolves those names and reports its findings in the
// same Faults, with Config.Fault for the place.
package configs
