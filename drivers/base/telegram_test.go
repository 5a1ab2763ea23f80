package base

import (
	"bytes"
	"os"
	"testing"

	"github.com/halyard-robotics/halyard/servo"
)

// filedLine is a line with a descriptor.
type filedLine struct{ servo.Line }

func (filedLine) File() (*os.File, error) { return os.Open(os.DevNull) }

// TestSafety18Telegram: what a supervisor writes is the base's emergency stop, on which it brakes by itself.
func TestSafety18Telegram(t *testing.T) {
	b := &Base{}
	if list, err := b.TorqueOffTelegrams(); list != nil || err != nil {
		t.Errorf("without a line: got %v, %v", list, err)
	}
	b.line = filedLine{}
	list, err := b.TorqueOffTelegrams()
	if err != nil || len(list) != 1 || !bytes.Equal(list[0].Bytes, []byte{0xFA, 0xFB, 0x03, 0x37, 0x00, 0x37}) {
		t.Fatalf("got %v, %v", list, err)
	}
	list[0].File.Close()
}
