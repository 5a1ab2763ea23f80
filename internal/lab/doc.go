// Package lab measures: benchmarks beside their theoretical limits, and drivers against emulated faults.
package lab
