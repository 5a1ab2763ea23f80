package gpio

import (
	"os"
	"slices"
	"syscall"
	"time"

	driver "github.com/halyard-robotics/halyard/drivers/gpio"

	"github.com/halyard-robotics/halyard/internal/wire/gpiochip"
)

// Host is the handle of a program, or of one of its goroutines, to a Chip: a hal.Clock, and an Opener of nodes with
// that clock.
type Host struct {
	chip *Chip
	own  time.Duration
}

// Host returns a handle. One goroutine at a time uses it.
func (c *Chip) Host() *Host { return &Host{chip: c} }

// Now is the handle's own time: the edge's, or later after its waits.
func (h *Host) Now() time.Duration {
	h.own = max(h.own, h.chip.Edge())
	return h.own
}

// SleepUntil returns at once; the handle's time is t then, or later.
func (h *Host) SleepUntil(t time.Duration) { h.own = max(h.Now(), t) }

// Open opens the chip's node.
func (h *Host) Open() (driver.Node, error) {
	h.Now()
	c := h.chip
	c.Lock()
	defer c.Unlock()
	plug, err := c.Plugged()
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: "/dev/" + c.config.Name, Err: syscall.ENOENT}
	}
	return &node{Host: h, plug: plug}, nil
}

// node is an open node of the chip or, with lines, of a request.
type node struct {
	*Host
	lines  *request
	plug   int
	closed bool
}

// alive reports whether the node may still be used. Under the lock.
func (n *node) alive() error {
	switch {
	case n.closed:
		return os.ErrClosed
	case n.chip.Gone(n.plug):
		return syscall.ENODEV
	}
	return nil
}

// Ioctl behaves like the kernel's.
func (n *node) Ioctl(number uint32, arg []byte) error {
	n.Now()
	c := n.chip
	c.Lock()
	defer c.Unlock()
	if err := n.alive(); err != nil {
		return err
	}
	switch {
	case number == gpiochip.GetChipInfo && n.lines == nil:
		info := gpiochip.ChipInfo{Name: c.config.Name, Label: c.config.Label, Lines: uint32(len(c.lines))}
		return answer(arg, info.AppendTo(nil))
	case number == gpiochip.GetLineInfo && n.lines == nil:
		return c.info(arg)
	case number == gpiochip.GetLine && n.lines == nil:
		return c.hand(arg, n.own)
	case number == gpiochip.GetValues && n.lines != nil && len(arg) == 16:
		_, mask := gpiochip.ParseValues(arg)
		gpiochip.PutValues(arg, n.lines.values(n.own)&mask, mask)
		return nil
	case number == gpiochip.SetValues && n.lines != nil && len(arg) == 16:
		bits, mask := gpiochip.ParseValues(arg)
		return n.lines.set(bits, mask, n.own)
	}
	return syscall.ENOTTY
}

func answer(arg, b []byte) error {
	if len(arg) != len(b) {
		return syscall.EFAULT
	}
	copy(arg, b)
	return nil
}

func (c *Chip) info(arg []byte) error {
	var info gpiochip.LineInfo
	if info.Parse(arg) != nil || int(info.Offset) >= len(c.lines) {
		return syscall.EINVAL
	}
	l := &c.lines[info.Offset]
	info = gpiochip.LineInfo{Offset: info.Offset, Name: c.config.Lines[info.Offset], Flags: l.flags}
	if l.holder != nil {
		info.Consumer, info.Flags = l.holder.asked.Consumer, info.Flags|gpiochip.Used
	}
	return answer(arg, info.AppendTo(nil))
}

// hand grants a request for lines, all or none.
func (c *Chip) hand(arg []byte, now time.Duration) error {
	r := &request{chip: c}
	if r.asked.Parse(arg) != nil {
		return syscall.EINVAL
	}
	for i, offset := range r.asked.Offsets {
		if int(offset) >= len(c.lines) || slices.Contains(r.asked.Offsets[:i], offset) {
			return syscall.EINVAL
		}
		if c.lines[offset].holder != nil {
			return syscall.EBUSY
		}
		// The kernel requires one direction, and edges only for inputs.
		flags, _, _ := r.wants(i)
		if in := flags&gpiochip.Input != 0; in == (flags&gpiochip.Output != 0) ||
			!in && flags&(gpiochip.EdgeRising|gpiochip.EdgeFalling) != 0 {
			return syscall.EINVAL
		}
	}
	if r.maxEvents = 16 * len(r.asked.Offsets); r.asked.Buffer > 0 {
		r.maxEvents = int(min(r.asked.Buffer, gpiochip.MaxEvents))
	}
	for i, offset := range r.asked.Offsets {
		flags, out, quiet := r.wants(i)
		l := &c.lines[offset]
		c.flush(int(offset), now)
		l.holder, l.flags, l.quiet, l.seq, l.out = r, flags, quiet, 0, loose
		if flags&gpiochip.Output != 0 {
			l.out = pulled(out != (flags&gpiochip.ActiveLow != 0))
		}
		l.level = c.level(int(offset), now)
		l.shown, l.settles = l.level, false
	}
	c.handed++
	c.nodes[c.handed] = r
	gpiochip.PutLines(arg, c.handed)
	return nil
}

// Lines is the node of the lines handed out as fd, by the same clock.
func (n *node) Lines(fd int32) driver.Node {
	n.chip.Lock()
	defer n.chip.Unlock()
	return &node{Host: n.Host, lines: n.chip.nodes[fd], plug: n.plug}
}

// Read takes events that have come by the handle's time. Waiting moves it to the next, or by the whole wait.
func (n *node) Read(p []byte, wait time.Duration) (int, error) {
	n.Now()
	c := n.chip
	c.Lock()
	defer c.Unlock()
	if err := n.alive(); err != nil {
		return 0, err
	}
	r := n.lines
	if r == nil || len(p) < gpiochip.EventSize {
		return 0, syscall.EINVAL
	}
	until := n.own + max(0, wait)
	for r.flush(n.own); len(r.queue) == 0; r.flush(n.own) {
		next := until + 1
		for _, offset := range r.asked.Offsets {
			if at, ok := c.lines[offset].next(); ok {
				next = min(next, at)
			}
		}
		if next > until {
			n.own = until
			return 0, os.ErrDeadlineExceeded
		}
		n.own = max(n.own, next)
	}
	k := min(len(r.queue), len(p)/gpiochip.EventSize)
	for i := range k {
		r.queue[i].AppendTo(p[:i*gpiochip.EventSize])
	}
	r.queue = r.queue[:copy(r.queue, r.queue[k:])]
	return k * gpiochip.EventSize, nil
}

// Close releases lines. The level of an output afterwards depends on Config.Keeps.
func (n *node) Close() error {
	c := n.chip
	c.Lock()
	defer c.Unlock()
	if n.closed {
		return os.ErrClosed
	}
	n.closed = true
	if r := n.lines; r != nil && !c.Gone(n.plug) {
		r.release()
	}
	return nil
}
