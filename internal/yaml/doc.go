// Package yaml reads the YAML files of this project strictly: configs, calibrations, robots, scenes and vehicles.
//
// Read makes a tree of nodes, each with its place; Decode sets Go values by the tags of their fields. Neither stops at
// a fault: a document collects all of them, each with its path, its place, the value found, the values allowed and, if
// it is known, the right form. Faults are returned in the order of the file:
//
//	robot.yaml:14:41: agents[0].hardware.joints.left_elbow.id: got 300, want 0..253
//
// Files are hostile input. Size, punctuation, nesting and keys are bounded, and checked before the library's parser,
// which is recursive and slow on long tables, sees them: no file costs more than 0.1 s and 50 MB to refuse. Anchors,
// aliases, tags, merge keys, further documents, unknown and repeated keys and numbers that are not finite are faults.
package yaml
