package emulator_test

import (
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/sim/emulator"
)

// FuzzBrands sends any bytes to emulated servos of every vendor: no panic, and all registers stay within the ranges of
// their tables.
func FuzzBrands(f *testing.F) {
	for _, text := range []string{"FF FF 01 04 03 28 80 4F", "FF FF FE 06 82 38 08 01 02 36", "FF FF 01 02 0A F2",
		"FF FF 03 04 0B 00 04 E9", "FF FF 03 05 03 2C C2 81 85", "FF FF 01 04 02 F0 FF 08",
		"55 55 01 07 1D 01 00 F4 01 E4", "55 55 01 03 0B F0", "55 55 FE 03 12 EC", "81 3E 40", "C1 04 7F",
		"FF 01 01 01"} {
		f.Add(unhex(f, text), uint8(3))
	}
	f.Fuzz(func(t *testing.T, stream []byte, piece uint8) {
		for _, servos := range [][]*emulator.Servo{
			{newFeetech(t, "sts3215", 1), newFeetech(t, "scs0009", 2), newFeetech(t, "hls3915", 3)},
			{newHiwonder(t, 1)}, {newKondo(t, 1)},
		} {
			r := newRig(t, emulator.Timing{Echo: piece&1 == 1}, servos...)
			for at, n := 0, int(piece)%16+1; at < len(stream); at += n {
				r.line.Write(stream[at:min(at+n, len(stream))])
				r.pass(time.Millisecond)
				r.line.Discard()
			}
			for i := range servos {
				if v := r.register(i, "id"); v < 0 || v > 253 {
					t.Errorf("%s: id %d", servos[i].Name(), v)
				}
				if v := r.register(i, "torque_enable"); v != 0 && v != 1 && (v != 2 || servos[i].Name() != "hls3915") {
					t.Errorf("%s: torque_enable %d", servos[i].Name(), v)
				}
			}
		}
	})
}
