// Package lab runs benchmarks against their theoretical limits, and drivers against emulated faults.
package lab
