package hal

import (
	"runtime/debug"
	"slices"
	"sync"
)

// busPool is one goroutine a bus, so that several lines are busy at once. The rig owns it: each waits for the next call
// and all are joined before it returns.
type busPool struct {
	hands []*hand
	done  sync.WaitGroup // of one call
	ended sync.WaitGroup // of the goroutines
}

// hand is the goroutine of one bus.
type hand struct {
	bus    Bus
	err    error     // of the last call
	panic  *busPanic // likewise; nil = none
	orders chan func(Bus) error
}

// busPanic is a panic of a bus in its goroutine.
type busPanic struct {
	value any
	stack string
}

// call calls f for the bus.
func (h *hand) call(f func(Bus) error) {
	defer func() {
		if p := recover(); p != nil {
			h.panic = &busPanic{p, string(debug.Stack())}
		}
	}()
	h.err, h.panic = nil, nil
	h.err = f(h.bus)
}

func newBusPool(buses []Bus) *busPool {
	c := &busPool{}
	for _, b := range buses {
		c.add(b)
	}
	return c
}

// add adds a goroutine for b, between two calls.
func (c *busPool) add(b Bus) {
	h := &hand{bus: b, orders: make(chan func(Bus) error, 1)}
	c.hands = append(c.hands, h)
	c.ended.Go(func() {
		for f := range h.orders {
			h.call(f)
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
}

// each calls f for every bus concurrently; each hand has the error of its bus. A panic of one is passed on when all
// have ended.
func (c *busPool) each(f func(Bus) error) {
	c.done.Add(len(c.hands))
	for _, h := range c.hands {
		h.orders <- f
	}
	c.done.Wait()
	for _, h := range c.hands {
		if h.panic != nil {
			panic(h.panic)
		}
	}
}

func (c *busPool) close() {
	for _, h := range c.hands {
		close(h.orders)
	}
	c.ended.Wait()
}
