// Package must ends a function at its first error, for code in which many steps may fail and each failure ends the
// whole: the operators of a network, benchmarks.
//
//	func ratio(path string) (r float64, err error) {
//		defer must.Catch(&err)
//		f := must.Get(os.Open(path))
//
// A function that calls Be or Get, or one that calls it in the same goroutine, defers Catch first.
package must

import "errors"

type failure struct{ err error }

// Be ends the function with err, if it is not nil.
func Be(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// Get returns v, or ends the function with err.
func Get[T any](v T, err error) T {
	Be(err)
	return v
}

// Catch, deferred, makes the error of Be and Get that of the function, before those of its other deferred calls. Other
// panics pass.
func Catch(err *error) {
	switch r := recover().(type) {
	case nil:
	case failure:
		if *err == nil {
			*err = r.err
			return
		}
		*err = errors.Join(r.err, *err)
	default:
		panic(r)
	}
}
