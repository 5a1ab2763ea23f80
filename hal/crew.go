package hal

import "sync"

// crew is one goroutine a bus, so that several lines are busy at once. The rig owns it: each waits for the next call
// and all are joined before it returns.
type crew struct {
	buses  []Bus
	errs   []error
	orders []chan func(Bus) error
	done   sync.WaitGroup // of one call
	ended  sync.WaitGroup // of the goroutines
}

func newCrew(buses []Bus) *crew {
	c := &crew{buses: buses, errs: make([]error, len(buses)), orders: make([]chan func(Bus) error, len(buses))}
	for i := range buses {
		c.orders[i] = make(chan func(Bus) error, 1)
		c.ended.Go(func() {
			for f := range c.orders[i] {
				c.errs[i] = f(c.buses[i])
				c.done.Done()
			}
		})
	}
	return c
}

// each calls f for every bus side by side and returns the errors by bus; the slice is reused.
func (c *crew) each(f func(Bus) error) []error {
	c.done.Add(len(c.buses))
	for _, o := range c.orders {
		o <- f
	}
	c.done.Wait()
	return c.errs
}

func (c *crew) close() {
	for _, o := range c.orders {
		close(o)
	}
	c.ended.Wait()
}
