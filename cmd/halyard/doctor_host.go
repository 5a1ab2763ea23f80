package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers/serial"
	"github.com/halyard-robotics/halyard/hal"
)

// connect opens the bus, after the checks of the machine's side of it. It reports whether it could.
func (b *busExam) connect() bool {
	b.check("port")
	if b.kind == configs.Real {
		b.check("access")
		b.check("holder")
		b.check("meddler")
		if p := b.adapter(); p != nil && !b.usable(p) {
			return false
		}
	}
	line, err := b.open(b.name, b.kind)
	if err != nil {
		b.refused(err)
		return false
	}
	b.line = line
	b.check("latency")
	timer, fix := b.config.Timing.LatencyTimer, "set timing.latency_timer of the bus to 1ms"
	b.latency = timer + 2*b.config.Timing.USBFrame
	if l, ok := line.(timed); ok {
		timer, _ = l.LatencyTimer() // opening has set it to 1 ms, where that was allowed
		b.latency = latencyOf(b.config.Port, line)
		fix = fmt.Sprintf("halyard ports --udev | sudo tee %s, and plug the adapter in again", serial.RulesFile)
	}
	if timer > time.Millisecond {
		b.warn("latency", fmt.Sprintf("the adapter's latency timer is %v: each answer waits up to that long", timer), fix)
	}
	return true
}

// adapter finds the bus's port, whatever the config calls it, among the machine's adapters; nil where it is another kind
// of file, or not there.
func (b *busExam) adapter() *serial.Port {
	ports, err := serial.List(b.root)
	if err != nil {
		return nil // no sysfs: opening tells what there is to tell
	}
	device := b.config.Port
	if d, err := filepath.EvalSymlinks(filepath.Join(b.root, device)); err == nil {
		device = d
	}
	for i := range ports {
		if p := &ports[i]; p.Stable == b.config.Port || filepath.Base(p.Device) == filepath.Base(device) {
			return p
		}
	}
	return nil
}

// usable reports whether there is sense in opening p, and what is in the way. It looks before the port is opened, since
// opening raises modem lines, which resets some boards, and takes bytes away from whoever has it.
func (b *busExam) usable(p *serial.Port) bool {
	if p.USB {
		for _, m := range meddlersIn(filepath.Join(b.root, "proc")) {
			b.warn("meddler", m.Found, m.Fix)
		}
	}
	if p.Denied != "" {
		b.fail("access", hal.Busy, "permission denied: "+p.Denied, accessFix(p.Denied))
		return false
	}
	if len(p.Holders) > 0 {
		for _, a := range portAdvice(p) {
			if a.Found == p.Held() {
				b.fail("holder", hal.Busy, a.Found, a.Fix)
			}
		}
		return false
	}
	return true
}

// refused says why the port could not be opened; the error knows the holder or the group.
func (b *busExam) refused(err error) {
	kind := hal.KindOf(err)
	found, fix := err.Error(), ""
	var e *hal.Error
	if errors.As(err, &e) && e.Err != nil {
		found, fix = e.Err.Error(), e.Try
	}
	switch {
	case kind == hal.Busy && strings.HasPrefix(found, "permission"):
		b.fail("access", kind, found, fix)
	case kind == hal.Busy:
		b.fail("holder", kind, found, "stop that program")
	case kind == hal.Absent:
		b.fail("port", kind, found, "plug the adapter in, or put its name into buses."+b.name+".port: halyard ports")
	default:
		b.fail("port", kind, found, "halyard ports")
	}
}
