package rfid

import "sync"

// number is a tag's bytes as a big-endian number; the highest bytes that an int cannot hold are lost.
func number(id []byte) int {
	n := uint64(0)
	for _, b := range id {
		n = n<<8 | uint64(b)
	}
	return int(n & uint64(^uint(0)>>1))
}

// tagListener holds the function to call with each tag.
type tagListener struct {
	mu sync.Mutex
	f  func(tag int)
}

// Listen lets f be notified of each tag, each time that it is read, in the goroutine that reads. There is one listener;
// nil ends it.
func (a *tagListener) Listen(f func(tag int)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.f = f
}

func (a *tagListener) notify(tag int) {
	a.mu.Lock()
	f := a.f
	a.mu.Unlock()
	if f != nil {
		f(tag)
	}
}
