package can

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/halyard-robotics/halyard/servo"
)

// Twelve frames told and twelve answered, each a system call, through a socket of the same kind. The bound is the bus:
// 24 frames of 111 bits are 2.66 ms at 1 Mbit/s; ratio is the part of it that the calls take.
func BenchmarkLine(b *testing.B) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		b.Fatal(err)
	}
	l, peer := newLine("can0", 1_000_000, fds[0]), newLine("can1", 1_000_000, fds[1])
	defer l.Close()
	defer peer.Close()
	var out []byte
	for id := range uint32(12) {
		out = servo.AppendCAN(out, &servo.CANFrame{ID: id, Len: 8})
	}
	in := make([]byte, len(out))
	carry := func(from, to *Line) {
		if n, err := from.Write(out); n != len(out) || err != nil {
			b.Fatalf("wrote %d, %v", n, err)
		}
		for got := 0; got < len(out); {
			n, err := to.Read(in[got:], time.Second)
			if err != nil {
				b.Fatal(err)
			}
			got += n
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		carry(l, peer)
		carry(peer, l)
	}
	b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(servo.WireTime(24, 111, 1_000_000)), "ratio")
}
