package haltest

import "os"

// Full reports whether tests run all of their cases: HALYARD_FULL=1, as in CI, or HALYARD_LONG=1, with which some run
// for hours. Otherwise a test that takes long runs a sample, or is skipped.
func Full() bool { return os.Getenv("HALYARD_FULL") != "" || os.Getenv("HALYARD_LONG") != "" }

// Sample returns all if tests run in full, and few otherwise.
func Sample[T any](few, all T) T {
	if Full() {
		return all
	}
	return few
}
