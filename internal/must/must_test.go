package must

import (
	"errors"
	"strconv"
	"testing"
)

func sum(a, b string, end error) (n int, err error) {
	defer Catch(&err)
	defer func() { err = errors.Join(err, end) }()
	n = Get(strconv.Atoi(a))
	n += Get(strconv.Atoi(b))
	Be(nil)
	return n, nil
}

func TestCatch(t *testing.T) {
	if n, err := sum("1", "2", nil); n != 3 || err != nil {
		t.Errorf("got %d, %v, want 3", n, err)
	}
	end := errors.New("end")
	if _, err := sum("1", "x", end); !errors.Is(err, strconv.ErrSyntax) || !errors.Is(err, end) {
		t.Errorf("got %v, want the error of Get and that of the deferred call", err)
	}
	defer func() {
		if r := recover(); r != "other" {
			t.Errorf("got panic %v, want the other one", r)
		}
	}()
	func() {
		var err error
		defer Catch(&err)
		panic("other")
	}()
}
