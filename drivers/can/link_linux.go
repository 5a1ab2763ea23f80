package can

import (
	"encoding/binary"
	"errors"
	"fmt"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/halyard-robotics/halyard/hal"
)

// The attributes of a CAN link (linux/can/netlink.h), inside IFLA_LINKINFO's IFLA_INFO_DATA.
const (
	infoKind    = 1
	infoData    = 2
	canTiming   = 1 // u32 bitrate, ...
	canState    = 4 // u32
	canRestart  = 6 // u32, ms
	attrType    = 1<<14 - 1
	interfaceUp = unix.IFF_UP
)

// Find returns the kernel's state of the CAN interface called name: an error of kind hal.Absent if absent.
func Find(name string, bitrate int) (*Link, error) {
	table, err := syscall.NetlinkRIB(unix.RTM_GETLINK, unix.AF_UNSPEC)
	if err != nil {
		return nil, fault(hal.Unexpected, name, "find", err, "")
	}
	link, err := parseLinks(table, name)
	switch {
	case err != nil:
		return nil, fault(hal.Unexpected, name, "find", err, "")
	case link == nil:
		return nil, fault(hal.Absent, name, "find", fmt.Errorf("no interface %s", name),
			"plug the adapter in (ip link show type can), then: "+setUp(name, bitrate))
	}
	return link, nil
}

// parseLinks looks for a CAN interface in the answer to RTM_GETLINK; nil if no such name exists. An interface
// of another kind is an error.
func parseLinks(table []byte, name string) (*Link, error) {
	messages, err := syscall.ParseNetlinkMessage(table)
	if err != nil {
		return nil, err
	}
	for i := range messages {
		m := &messages[i]
		if m.Header.Type != unix.RTM_NEWLINK || len(m.Data) < unix.SizeofIfInfomsg {
			continue
		}
		link := &Link{State: unknown, Up: binary.NativeEndian.Uint32(m.Data[8:])&interfaceUp != 0}
		kind := ""
		// Not syscall.ParseNetlinkRouteAttr, which panics where the last attribute is cut short.
		each(m.Data[unix.SizeofIfInfomsg:], func(t uint16, v []byte) {
			switch t {
			case unix.IFLA_IFNAME:
				link.Name = unix.ByteSliceToString(v)
			case unix.IFLA_LINKINFO:
				kind = link.read(v)
			}
		})
		if link.Name != name {
			continue
		}
		if hardware := binary.NativeEndian.Uint16(m.Data[2:]); hardware != unix.ARPHRD_CAN {
			return nil, fmt.Errorf("%s is no CAN interface: %q", name, kind)
		}
		return link, nil
	}
	return nil, nil
}

// each calls do for the attributes of p, as far as they are whole.
func each(p []byte, do func(kind uint16, value []byte)) {
	for len(p) >= unix.SizeofRtAttr {
		n := int(binary.NativeEndian.Uint16(p))
		if n < unix.SizeofRtAttr || n > len(p) {
			return
		}
		do(binary.NativeEndian.Uint16(p[2:])&attrType, p[unix.SizeofRtAttr:n])
		p = p[min(len(p), (n+3)&^3):]
	}
}

// read parses IFLA_LINKINFO and returns the link's kind.
func (l *Link) read(info []byte) (kind string) {
	each(info, func(t uint16, v []byte) {
		switch t {
		case infoKind:
			kind = unix.ByteSliceToString(v)
		case infoData:
			each(v, func(t uint16, v []byte) {
				if len(v) < 4 {
					return
				}
				n := binary.NativeEndian.Uint32(v)
				switch t {
				case canTiming:
					l.Bitrate = int(n)
				case canState:
					l.State = State(min(n, uint32(unknown)))
				case canRestart:
					l.Restart = time.Duration(n) * time.Millisecond
				}
			})
		}
	})
	return kind
}

// errNoCAN reports that the kernel has no CAN.
var errNoCAN = errors.New("the kernel has no CAN sockets")
