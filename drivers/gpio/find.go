package gpio

import (
	"errors"
	"fmt"
	"io/fs"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/gpiochip"
)

// Find opens the chip that a config's port names: a device (/dev/gpiochip0, or a link to one), its name or number
// (gpiochip0, 0), or its label (pinctrl-rp1), which stays the same when the kernel counts its chips in another order.
// It looks again each time it is called. Errors are hal.Absent, hal.Busy where it may not be opened, or hal.Invalid.
func Find(port string) Opener { return within("/dev", port, openNode) }

// within is Find in another folder than /dev, with another way to open.
func within(dev, port string, open func(path string) (Node, error)) Opener {
	return func() (Node, error) {
		path, err := locate(dev, port, open)
		if err != nil {
			return nil, err
		}
		node, err := open(path)
		return node, refused(port, path, err)
	}
}

// locate is the path of the chip that port names.
func locate(dev, port string, open func(path string) (Node, error)) (string, error) {
	if strings.Contains(port, "/") {
		return port, nil
	}
	if _, err := strconv.ParseUint(port, 10, 16); err == nil {
		return filepath.Join(dev, "gpiochip"+port), nil
	}
	paths, err := filepath.Glob(filepath.Join(dev, "gpiochip*"))
	if err != nil {
		return "", refused(port, "", err)
	}
	var found, labels []string
	var denied error
	for _, path := range paths {
		if filepath.Base(path) == port {
			return path, nil
		}
		label, err := labelOf(path, open)
		switch {
		case err != nil:
			denied = refused(port, path, err) // one may be another's, and still the one that is meant
		case label == port:
			found = append(found, path)
		default:
			labels = append(labels, fmt.Sprintf("%s (%s)", filepath.Base(path), label))
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return "", &hal.Error{Kind: hal.Invalid, Bus: port, Op: "gpio",
			Err: fmt.Errorf("label: got %s, want one chip of it: name the device", strings.Join(found, " and "))}
	case denied != nil:
		return "", denied
	case len(labels) == 0:
		labels = []string{"no chip"}
	}
	return "", &hal.Error{Kind: hal.Absent, Bus: port, Op: "gpio",
		Err: fmt.Errorf("no chip is called or labelled %q; there is %s", port, strings.Join(labels, ", ")),
		Try: "ls /dev/gpiochip*"}
}

func labelOf(path string, open func(string) (Node, error)) (string, error) {
	node, err := open(path)
	if err != nil {
		return "", err
	}
	var c gpiochip.ChipInfo
	err = ask(node, gpiochip.GetChipInfo, c.AppendTo(nil), c.Parse)
	return c.Label, errors.Join(err, node.Close())
}

// refused explains why a chip could not be opened.
func refused(port, path string, err error) error {
	if err == nil {
		return nil
	}
	e := &hal.Error{Kind: hal.BusFault, Bus: port, Op: "gpio", Err: err}
	var wrong errInvalid
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.Kind, e.Try = hal.Absent, "ls /dev/gpiochip*"
	case errors.As(err, &wrong):
		e.Kind = hal.Invalid
	case errors.Is(err, fs.ErrPermission):
		e.Kind, e.Try = hal.Busy, "halyard ports --udev"
		if gid := groupOf(path); gid != 0 {
			name := strconv.FormatUint(uint64(gid), 10)
			if g, err := user.LookupGroupId(name); err == nil {
				name = g.Name
			}
			e.Try = "sudo usermod -aG " + name + " $USER, then log in again"
		}
	}
	return e
}
