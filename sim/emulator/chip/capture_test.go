package chip_test

import (
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/drivers/imu"
	"github.com/halyard-robotics/halyard/hal/haltest"
	"github.com/halyard-robotics/halyard/internal/wire/imureg"
	"github.com/halyard-robotics/halyard/sim/emulator/chip"
)

// After power-on the emulated BNO055 holds what a real one held: a dump of its registers, but for the status and the
// error, which came of reading beyond them.
func TestCapturedBNO055(t *testing.T) {
	want := haltest.Bytes(t, strings.Join(haltest.Capture(t, "bno055_i2cdump.txt"), " "))
	host := chip.NewBus("i2c", 400_000, 1, chip.NewBNO055(imu.BNO055Address)).Host()
	got := make([]byte, 1)
	for r := range byte(len(want)) {
		must(t, host.Tx(imu.BNO055Address, []byte{r}, got))
		if r == imureg.BNO055Status || r == imureg.BNO055Status+1 || r == imureg.BNO055Temperature {
			continue
		}
		if got[0] != want[r] {
			t.Errorf("register 0x%02X: got %02X, want %02X", r, got[0], want[r])
		}
	}
}
