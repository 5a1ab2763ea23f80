// Package policy runs learned policies: networks of ONNX files, in float32, without another library.
//
// Read reads a file, folds what is constant and lays out all memory; Run computes the outputs from the inputs and
// allocates nothing. Every size is fixed by then: a dimension that the file leaves open (the batch) is 1. An operator
// that is missing here is refused by its name, with the node's. The same file and inputs give the same bits on every
// processor.
//
// A Spec names the terms of the observation and of the action; a Driver computes both for a robot's layout.
package policy
