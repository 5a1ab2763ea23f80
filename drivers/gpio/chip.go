package gpio

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"syscall"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/gpiochip"
)

// Node is an open file of the character device: a chip, or the lines that one handed out. One goroutine at a time uses
// it. Its clock is that of the edges' time stamps; callers wait by it.
type Node interface {
	// Ioctl does a request on its structure, arg. Its errors are those of the kernel, a syscall.Errno inside.
	Ioctl(request uint32, arg []byte) error
	// Lines is the node of the lines that a GetLine of this chip has handed out as fd. It outlives the chip's.
	Lines(fd int32) Node
	// Read reads whole events of a line node. Without events it waits for at most wait and returns
	// os.ErrDeadlineExceeded.
	Read(p []byte, wait time.Duration) (int, error)
	hal.Clock
	Close() error
}

// Opener opens the node of a chip.
type Opener func() (Node, error)

// Survey reads the identity of a chip and the state of its lines.
func Survey(bus string, open Opener) (gpiochip.ChipInfo, []gpiochip.LineInfo, error) {
	var c gpiochip.ChipInfo
	node, err := open()
	if err != nil {
		return c, nil, fault(bus, "", err)
	}
	lines, err := survey(node, &c)
	if err = errors.Join(err, node.Close()); err != nil {
		return c, nil, fault(bus, "", err)
	}
	return c, lines, nil
}

func survey(node Node, c *gpiochip.ChipInfo) ([]gpiochip.LineInfo, error) {
	if err := ask(node, gpiochip.GetChipInfo, c.AppendTo(nil), c.Parse); err != nil {
		return nil, err
	}
	// No chip has thousands of lines; a number out of all reason is another kind of file that took the request.
	if c.Lines > 4096 {
		return nil, fmt.Errorf("chip info: got %d lines, want up to 4096", c.Lines)
	}
	lines := make([]gpiochip.LineInfo, c.Lines)
	for i := range lines {
		lines[i].Offset = uint32(i)
		if err := ask(node, gpiochip.GetLineInfo, lines[i].AppendTo(nil), lines[i].Parse); err != nil {
			return nil, err
		}
	}
	return lines, nil
}

// ask does a request that answers in its own structure.
func ask(node Node, request uint32, arg []byte, parse func([]byte) error) error {
	if err := node.Ioctl(request, arg); err != nil {
		return err
	}
	return parse(arg)
}

// find is the offset of a line that the config names by offset or name.
func find(node Node, line string) (uint32, error) {
	offset, err := strconv.ParseUint(line, 10, 32)
	if err == nil {
		return uint32(offset), nil
	}
	var c gpiochip.ChipInfo
	lines, err := survey(node, &c)
	if err != nil {
		return 0, err
	}
	found := -1
	for i := range lines {
		if lines[i].Name != line {
			continue
		}
		if found >= 0 { // the kernel does not ask for names to be unique
			return 0, invalid("line %q: got offsets %d and %d of %s, want the name of one line", line, found, i, c.Name)
		}
		found = i
	}
	if found < 0 {
		return 0, invalid("line %q: got none of that name on %s (%s), want a name of its %d lines", line, c.Name,
			c.Label, c.Lines)
	}
	return uint32(found), nil
}

// errInvalid is an error of the config.
type errInvalid struct{ error }

func invalid(format string, args ...any) error { return errInvalid{fmt.Errorf(format, args...)} }

// fault names the chip and the device in err; a lost chip is of kind hal.Absent.
func fault(bus, op string, err error) error {
	if err == nil {
		return nil
	}
	var known *hal.Error
	if errors.As(err, &known) && op == "" {
		return err
	}
	e := &hal.Error{Kind: hal.BusFault, Bus: bus, Op: op, Err: err, Try: "halyard doctor"}
	var wrong errInvalid
	switch {
	case known != nil:
		e.Kind, e.Err, e.Try = known.Kind, known.Err, known.Try
	case errors.As(err, &wrong):
		e.Kind = hal.Invalid
	case errors.Is(err, syscall.ENODEV), errors.Is(err, syscall.ENXIO), errors.Is(err, fs.ErrNotExist),
		errors.Is(err, fs.ErrClosed):
		e.Kind = hal.Absent
	case errors.Is(err, syscall.EBUSY), errors.Is(err, fs.ErrPermission):
		e.Kind = hal.Busy
	}
	return e
}
