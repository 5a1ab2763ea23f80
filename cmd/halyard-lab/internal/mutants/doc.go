// Package mutants puts single errors into a copy of a source file and reports which of them the tests, or random
// schedules, notice. What survives shows a line that no test needs.
//
// Nothing in the tree is changed: the go command reads the changed file in place of its own (-overlay).
package mutants
