package chiptest_test

import (
	"errors"
	"flag"
	"testing"

	"github.com/halyard-robotics/halyard/drivers/imu"
	"github.com/halyard-robotics/halyard/internal/emulator/chiptest"
	"github.com/halyard-robotics/halyard/sim/emulator/chip"
)

// A driver is held against the bits of its values: it says more than those, and allocates nothing. One that does not
// open, or does not read, ends the benchmark.
func TestReading(t *testing.T) {
	benchtime := flag.Lookup("test.benchtime")
	was := benchtime.Value.String()
	if err := benchtime.Value.Set("20x"); err != nil {
		t.Fatal(err)
	}
	defer benchtime.Value.Set(was)
	const bits = 9 * 14 // of the values of an LSM6DSOX
	lsm6 := func(h *chip.Host) (chiptest.Sensor, error) { return imu.NewLSM6(h, imu.LSM6Config{Clock: h}) }
	for _, c := range []struct {
		name   string
		driver func(h *chip.Host) (chiptest.Sensor, error)
		runs   bool
	}{
		{"sound", lsm6, true},
		{"refused", func(h *chip.Host) (chiptest.Sensor, error) { return nil, errors.New("no such range") }, false},
		{"another address", func(h *chip.Host) (chiptest.Sensor, error) {
			return imu.NewLSM6(h, imu.LSM6Config{Clock: h, Address: imu.LSM6AddressAlt})
		}, false},
	} {
		r := testing.Benchmark(func(b *testing.B) {
			chiptest.Reading(b, bits, chip.NewLSM6(imu.LSM6Address), c.driver)
		})
		if runs := r.N > 0; runs != c.runs {
			t.Errorf("%s: got %d turns", c.name, r.N)
			continue
		}
		if share := r.Extra["of_bus"]; c.runs && (!(share > 0.4 && share < 1) || r.AllocsPerOp() != 0) {
			t.Errorf("%s: got %.2f of the bus, %d allocations; want more than 0.4 and less than all, 0", c.name, share,
				r.AllocsPerOp())
		}
	}
}
