package rfid

import (
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/internal/wire/rfidwire"
	"github.com/halyard-robotics/halyard/servo"
)

// A telegram of each reader, found, checked and taken apart. ratio is the part of its time on the wire: 14.6 ms of 14
// bytes at 9600 baud, 2 ms or so at 115200.
func BenchmarkDecode(b *testing.B) {
	rdm := AppendRDM6300(nil, [5]byte{0x62, 0x00, 0x83, 0x4C, 0xE7}, RDM6300Digits)
	pn := rfidwire.AppendPN532(rfidwire.PN532Ack(), append([]byte{rfidwire.PN532Chip, rfidwire.PN532List + 1, 1},
		rfidwire.AppendPN532Target(nil, 1, []byte{4, 5, 6, 7})...)...)
	for _, c := range []struct {
		name   string
		stream []byte
		wire   time.Duration
		decode func(p []byte) (used int, ok bool)
	}{
		{"rdm6300", rdm, servo.WireTime(len(rdm), 10, 9600), func(p []byte) (int, bool) {
			_, n, ok := parseRDM6300(p)
			return n, ok
		}},
		{"pn532", pn, servo.WireTime(len(pn), 10, PN532Baud), func(p []byte) (int, bool) {
			_, ack, _ := rfidwire.ParsePN532(p)
			data, n, ok := rfidwire.ParsePN532(p[ack:])
			return ack + n, ok && rfidwire.ParseTargets(data[2:], func([]byte) {})
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if n, ok := c.decode(c.stream); !ok || n != len(c.stream) {
					b.Fatalf("got %d bytes, %t, want %d", n, ok, len(c.stream))
				}
			}
			b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(c.wire), "ratio")
		})
	}
}
