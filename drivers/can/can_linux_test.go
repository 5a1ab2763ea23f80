package can

import (
	"encoding/binary"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// pair is a line over a socket that keeps the bounds of frames, as a raw CAN socket does, and its other end.
func pair(t *testing.T) (*Line, int) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	l := newLine("can0", 500_000, fds[0])
	t.Cleanup(func() { l.Close() })
	return l, fds[1]
}

func send(t *testing.T, fd int, frames ...servo.CANFrame) {
	t.Helper()
	for i := range frames {
		if _, err := unix.Write(fd, servo.AppendCAN(nil, &frames[i])); err != nil {
			t.Fatal(err)
		}
	}
}

func TestLineCarriesFrames(t *testing.T) {
	l, peer := pair(t)
	defer unix.Close(peer)
	one, two := servo.CANFrame{ID: 1, Len: 1, Data: [8]byte{7}}, servo.CANFrame{ID: 0x1234567, Extended: true, Len: 8}
	out := servo.AppendCAN(servo.AppendCAN(nil, &one), &two)
	if n, err := l.Write(out); n != len(out) || err != nil {
		t.Fatalf("write: got %d, %v", n, err)
	}
	// Each frame is a message of its own.
	room := make([]byte, 100)
	for _, want := range []servo.CANFrame{one, two} {
		var f servo.CANFrame
		if n, err := unix.Read(peer, room); err != nil || servo.ParseCAN(room[:n], &f) != nil || f != want {
			t.Errorf("got %v, %v, want %v", &f, err, &want)
		}
	}
	// Back: all that is there, in whole frames, and an error frame like another.
	passive := servo.CANFrame{ID: 4, Error: true, Len: 8, Data: [8]byte{0, 0x10}}
	send(t, peer, one, two, passive)
	unix.Write(peer, make([]byte, 7)) // no frame
	if n, err := l.Read(room[:40], time.Second); n != 32 || err != nil {
		t.Errorf("read: got %d, %v", n, err)
	}
	if n, err := l.Read(room, time.Second); n != 16 || err != nil {
		t.Errorf("the rest: got %d, %v", n, err)
	}
	if n, err := l.Read(room, time.Millisecond); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("nothing: got %d, %v", n, err)
	}
	send(t, peer, one, two)
	if err := l.Discard(); err != nil {
		t.Error(err)
	}
	if n, _ := l.Read(room, 0); n != 0 {
		t.Errorf("after discard: got %d", n)
	}
	if l.Baud() != 500_000 || l.SetBaud(500_000) != nil || hal.KindOf(l.SetBaud(1_000_000)) != hal.Invalid ||
		l.Now() <= 0 {
		t.Error("rate or clock")
	}
}

// Without an acknowledge the queue fills up, frames are dropped, and the cycle continues.
func TestLineDropsWhatFindsNoRoom(t *testing.T) {
	l, peer := pair(t)
	defer unix.Close(peer)
	f := servo.AppendCAN(nil, &servo.CANFrame{ID: 1})
	for l.Dropped() == 0 {
		if n, err := l.Write(f); n != len(f) || err != nil {
			t.Fatalf("got %d, %v", n, err)
		}
	}
}

// Frames after a dropped frame are dropped too: they may switch on torque for the goal that was lost.
func TestLineDropsTheRest(t *testing.T) {
	l, peer := pair(t)
	defer unix.Close(peer)
	full := true
	l.write = func(_ int, p []byte) (int, error) {
		if p[0] == 3 {
			full = false // room again
		}
		if full {
			return 0, unix.ENOBUFS
		}
		return len(p), nil
	}
	f := servo.AppendCAN(servo.AppendCAN(nil, &servo.CANFrame{ID: 2}), &servo.CANFrame{ID: 3})
	if n, err := l.Write(f); n != len(f) || err != nil || l.Dropped() != 2 || !full {
		t.Errorf("got %d, %v, %d dropped, full %v", n, err, l.Dropped(), full)
	}
}

func TestLineIsLost(t *testing.T) {
	gone := func(what string, l *Line, err error) {
		t.Helper()
		if !errors.Is(err, servo.ErrDisconnected) || hal.KindOf(err) != hal.Absent ||
			!strings.Contains(err.Error(), "ip link set can0 up type can bitrate 500000") {
			t.Errorf("%s: got %v", what, err)
		}
		if _, err := l.Write(make([]byte, 16)); !errors.Is(err, servo.ErrDisconnected) {
			t.Errorf("%s: writing after it: got %v", what, err)
		}
	}
	l, peer := pair(t)
	send(t, peer, servo.CANFrame{ID: 1}, servo.CANFrame{ID: busOffClass, Error: true, Len: 8})
	_, err := l.Read(make([]byte, 64), time.Second)
	gone("bus-off", l, err)
	if !strings.Contains(err.Error(), "bus-off") {
		t.Errorf("got %v", err)
	}
	unix.Close(peer)

	l, peer = pair(t)
	unix.Close(peer)
	_, err = l.Read(make([]byte, 64), time.Second)
	gone("pulled", l, err)

	l, peer = pair(t)
	defer unix.Close(peer)
	gone("down", l, l.failed("read", unix.ENETDOWN))

	l, other := pair(t)
	defer unix.Close(other)
	if err := errors.Join(l.Close(), l.Close()); err != nil {
		t.Error(err)
	}
	if _, err := l.Read(nil, 0); !errors.Is(err, os.ErrClosed) {
		t.Errorf("closed: got %v", err)
	}
}

// attr is one attribute of a netlink message.
func attr(kind uint16, value []byte) []byte {
	p := binary.NativeEndian.AppendUint16(nil, uint16(4+len(value)))
	p = append(binary.NativeEndian.AppendUint16(p, kind), value...)
	return append(p, make([]byte, (4-len(p)%4)%4)...)
}

func word(v uint32) []byte { return binary.NativeEndian.AppendUint32(nil, v) }

// linkMessage is what RTM_GETLINK answers for one interface.
func linkMessage(name string, hardware uint16, flags uint32, info []byte) []byte {
	body := make([]byte, unix.SizeofIfInfomsg)
	binary.NativeEndian.PutUint16(body[2:], hardware)
	binary.NativeEndian.PutUint32(body[8:], flags)
	body = append(body, attr(unix.IFLA_IFNAME, append([]byte(name), 0))...)
	body = append(body, attr(unix.IFLA_LINKINFO, info)...)
	m := binary.NativeEndian.AppendUint32(nil, uint32(unix.SizeofNlMsghdr+len(body)))
	m = binary.NativeEndian.AppendUint16(m, unix.RTM_NEWLINK)
	return append(append(m, make([]byte, 10)...), body...)
}

func canInfo(bitrate, state, restart uint32) []byte {
	data := append(attr(canTiming, append(word(bitrate), make([]byte, 28)...)), attr(canState, word(state))...)
	return append(attr(infoKind, []byte("can\x00")),
		attr(infoData, append(data, attr(canRestart, word(restart))...))...)
}

func TestLinks(t *testing.T) {
	table := linkMessage("lo", unix.ARPHRD_LOOPBACK, unix.IFF_UP, nil)
	table = append(table, linkMessage("can0", unix.ARPHRD_CAN, unix.IFF_UP, canInfo(500_000, 0, 100))...)
	table = append(table, linkMessage("can1", unix.ARPHRD_CAN, 0, canInfo(0, 4, 0))...)
	table = append(table, linkMessage("can2", unix.ARPHRD_CAN, unix.IFF_UP, canInfo(1_000_000, 3, 0))...)
	table = append(table, linkMessage("vcan0", unix.ARPHRD_CAN, unix.IFF_UP, attr(infoKind, []byte("vcan\x00")))...)
	for _, c := range []struct {
		name string
		want Link
		err  string
	}{
		{"can0", Link{"can0", true, active, 500_000, 100 * time.Millisecond}, ""},
		{"can1", Link{"can1", false, stopped, 0, 0}, "interface can1 is down"},
		{"can2", Link{"can2", true, BusOff, 1_000_000, 0}, "interface can2 is bus-off"},
		{"vcan0", Link{"vcan0", true, unknown, 0, 0}, ""},
	} {
		got, err := parseLinks(table, c.name)
		if err != nil || got == nil || *got != c.want {
			t.Errorf("%s: got %+v, %v", c.name, got, err)
			continue
		}
		if err := got.Check(500_000); (c.err == "") != (err == nil) ||
			err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: check: got %v", c.name, err)
		}
	}
	can0, _ := parseLinks(table, "can0")
	if err := can0.Check(250_000); hal.KindOf(err) != hal.Invalid ||
		!strings.Contains(err.Error(), "sudo ip link set can0 down; sudo ip link set can0 up type can bitrate 250000") {
		t.Errorf("another rate: got %v", err)
	}
	if got, err := parseLinks(table, "can9"); got != nil || err != nil {
		t.Errorf("none: got %v, %v", got, err)
	}
	if _, err := parseLinks(table, "lo"); err == nil {
		t.Error("lo: got a CAN interface")
	}
	if BusOff.String() != "bus-off" || unknown.String() != "unknown" {
		t.Error("names of states")
	}
}

func FuzzLinks(f *testing.F) {
	f.Add(linkMessage("can0", unix.ARPHRD_CAN, unix.IFF_UP, canInfo(500_000, 0, 100)))
	f.Fuzz(func(t *testing.T, table []byte) {
		if l, err := parseLinks(table, "can0"); err == nil && l != nil {
			l.Check(500_000)
		}
	})
}

// This machine may have a CAN interface or none, and a kernel without CAN: opening says so, each time with what to
// type.
func TestOpen(t *testing.T) {
	_, err := Open("nocan7", 1_000_000)
	var e *hal.Error
	if !errors.As(err, &e) || e.Kind != hal.Absent ||
		!strings.Contains(e.Try, "ip link set nocan7 up type can bitrate 1000000") {
		t.Errorf("no interface: got %v", err)
	}
	if _, err := Reopener("nocan7", 0)(); hal.KindOf(err) != hal.Invalid {
		t.Errorf("no rate: got %v", err)
	}
	if fd, err := socket("nocan7", []Filter{{ID: 1, Mask: 2}}); err == nil {
		unix.Close(fd)
		t.Error("no interface: got a socket")
	}
	// With a virtual one, two lines hear each other.
	a, err := Open("vcan0", 1_000_000, Filter{ID: 0x100, Mask: 0x700})
	if err != nil {
		t.Skipf("no vcan0 here: %v", err)
	}
	defer a.Close()
	b, err := Open("vcan0", 1_000_000)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	f := servo.AppendCAN(nil, &servo.CANFrame{ID: 0x200})
	f = servo.AppendCAN(f, &servo.CANFrame{ID: 0x123, Len: 2})
	room := make([]byte, 64)
	b.Write(f)
	if n, err := a.Read(room, time.Second); n != 16 || err != nil || room[0] != 0x23 {
		t.Errorf("through the filter: got % X, %v", room[:n], err)
	}
}
