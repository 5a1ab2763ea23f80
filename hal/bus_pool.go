package hal

import (
	"slices"
	"sync"
)

// busPool is one goroutine a bus, so that several lines are busy at once. The rig owns it: each waits for the next call
// and all are joined before it returns.
type busPool struct {
	hands []*hand
	errs  []error        // of one call, one a hand
	done  sync.WaitGroup // of one call
	ended sync.WaitGroup // of the goroutines
}

// hand is the goroutine of one bus.
type hand struct {
	bus    Bus
	err    error
	orders chan func(Bus) error
}

func newCrew(buses []Bus) *busPool {
	c := &busPool{}
	for _, b := range buses {
		c.add(b)
	}
	return c
}

// add adds a goroutine for b, between two calls.
func (c *busPool) add(b Bus) {
	h := &hand{bus: b, orders: make(chan func(Bus) error, 1)}
	c.hands, c.errs = append(c.hands, h), append(c.errs, nil)
	c.ended.Go(func() {
		for f := range h.orders {
			h.err = f(h.bus)
			c.done.Done()
		}
	})
}

// remove ends the goroutine of b, between two calls.
func (c *busPool) remove(b Bus) {
	c.hands = slices.DeleteFunc(c.hands, func(h *hand) bool {
		if h.bus == b {
			close(h.orders)
		}
		return h.bus == b
	})
	c.errs = c.errs[:len(c.hands)]
}

// each calls f for every bus side by side and returns the errors by bus; the slice is reused.
func (c *busPool) each(f func(Bus) error) []error {
	c.done.Add(len(c.hands))
	for _, h := range c.hands {
		h.orders <- f
	}
	c.done.Wait()
	for i, h := range c.hands {
		c.errs[i] = h.err
	}
	return c.errs
}

func (c *busPool) close() {
	for _, h := range c.hands {
		close(h.orders)
	}
	c.ended.Wait()
}
