package servo

import "github.com/halyard-robotics/halyard/hal"

// Find returns the first of list that is what is asked for, nil where none is.
func Find[T any](list []*T, is func(*T) bool) *T {
	for _, x := range list {
		if is(x) {
			return x
		}
	}
	return nil
}

// Scan asks every id from first to last, one after the other, and calls found for each that answers or whose answer is
// corrupt (err is then the error). Most ids do not reply. It ends with the error of a line that is gone.
func Scan[T any](first, last byte, ask func(id byte) (T, error), found func(T, error)) error {
	for id := int(first); id <= int(last); id++ {
		f, err := ask(byte(id))
		switch hal.KindOf(err) {
		case hal.Timeout:
			continue
		case hal.Absent:
			return err
		}
		found(f, err)
	}
	return nil
}
