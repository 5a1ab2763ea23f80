package hal

import "testing"

// TestSlice: the loop's thread has its own slice while it loops, and the default afterwards.
func TestSlice(t *testing.T) {
	unlock := lockThread()
	a, ok := schedOf()
	unlock()
	if !ok || a.policy != 0 || a.runtime == 0 {
		t.Skipf("this kernel knows no slices: %+v", a)
	}
	if a.runtime != uint64(slice) {
		t.Errorf("locked: got %+v, want slices of %v", a, slice)
	}
	done := make(chan schedAttr)
	go func() {
		defer lockThread()()
		setSlice(0)
		b, _ := schedOf()
		done <- b
	}()
	if b := <-done; b.runtime == uint64(slice) {
		t.Errorf("given back: got %+v, want the usual slices", b)
	}
}
