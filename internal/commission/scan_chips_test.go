package commission

import (
	"errors"
	"strings"
	"testing"

	"periph.io/x/conn/v3/physic"

	"github.com/halyard-robotics/halyard/drivers/i2c"
	"github.com/halyard-robotics/halyard/hal"
)

// failing is a bus on which every transfer fails.
type failing struct {
	err   error
	asked int
}

func (f *failing) String() string                  { return "failing" }
func (f *failing) SetSpeed(physic.Frequency) error { return nil }
func (f *failing) Tx(uint16, []byte, []byte) error { f.asked++; return f.err }

// What is wrong with a whole bus is said, and not that no device answers.
func TestSurveyI2CWholeBus(t *testing.T) {
	for _, c := range []struct {
		err   error
		kind  hal.Kind
		asked int
		want  string
	}{
		{i2c.ErrSMBusOnly, hal.Invalid, 1, "i2cdetect -F 7"},
		{i2c.ErrHeldLow, hal.BusFault, maxHeldLow, "holds SDA or SCL low"},
	} {
		bus := &failing{err: c.err}
		rows, err := SurveyI2C(t.Context(), "/dev/i2c-7", bus)
		if len(rows) != 0 || hal.KindOf(err) != c.kind || bus.asked != c.asked ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: got %v after %d addresses, want %q after %d", c.err, err, bus.asked, c.want, c.asked)
		}
	}
	bus := &failing{err: errors.New("remote I/O error")}
	if rows, err := SurveyI2C(t.Context(), "/dev/i2c-7", bus); err != nil || len(rows) != 0 ||
		bus.asked != LastAddress-FirstAddress+1 {
		t.Errorf("no device: got %v, %v after %d", rows, err, bus.asked)
	}
}
