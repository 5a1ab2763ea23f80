package pressure

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/hal/haltest"
	"github.com/halyard-robotics/halyard/internal/wire/pressurereg"
)

// Registers of real chips come to what Bosch's integer arithmetic makes of them.
func TestCapturedRegisters(t *testing.T) {
	for _, line := range haltest.Capture(t, "bmx280_periph.txt") {
		f := strings.Split(line, " | ")
		var rawT, rawP, rawH int32
		var trim pressurereg.BMX280Trim
		if f[1] == "-" {
			var x pressurereg.BMX280Trim
			if _, err := fmt.Sscanf(f[3], "T %d P %d H %d with T1 %d T2 %d T3 %d P1 %d P2 %d P3 %d P4 %d P5 %d P6 "+
				"%d P7 %d P8 %d P9 %d H1 %d H2 %d H3 %d H4 %d H5 %d H6 %d",
				&rawT, &rawP, &rawH, &x.T1, &x.T2, &x.T3, &x.P1, &x.P2, &x.P3, &x.P4, &x.P5, &x.P6, &x.P7, &x.P8, &x.P9,
				&x.H1, &x.H2, &x.H3, &x.H4, &x.H5, &x.H6); err != nil {
				t.Fatal(err)
			}
			trim = x
		} else {
			block, d := haltest.Bytes(t, f[1]), haltest.Bytes(t, f[3])
			var h1 byte
			var hum []byte
			if f[2] != "-" {
				h1, hum = block[len(block)-1], haltest.Bytes(t, f[2])
			}
			trim = pressurereg.DecodeBMX280(block[:24], h1, hum)
			rawP, rawT = int32(d[0])<<12|int32(d[1])<<4|int32(d[2])>>4, int32(d[3])<<12|int32(d[4])<<4|int32(d[5])>>4
			if len(d) > 7 {
				rawH = int32(d[6])<<8 | int32(d[7])
			}
		}
		var celsius, pascals float64
		var humidity string
		if _, err := fmt.Sscan(f[4], &celsius, &pascals, &humidity); err != nil {
			t.Fatal(err)
		}
		fine := trim.Fine(rawT)
		if got := pressurereg.Celsius(fine); math.Abs(got-celsius) > 0.006 {
			t.Errorf("%s: got %g C, want %g", f[0], got, celsius)
		}
		if got := trim.Pascals(rawP, fine); math.Abs(got-pascals) > 0.01 {
			t.Errorf("%s: got %.4f Pa, want %g", f[0], got, pascals)
		}
		var share float64
		if n, _ := fmt.Sscan(humidity, &share); n == 1 {
			if got := trim.Humidity(rawH, fine); math.Abs(got-share) > 0.0006 {
				t.Errorf("%s: got %g, want %g of humidity", f[0], got, share)
			}
		}
	}
}
