package dynamixel

import (
	"bytes"
	"testing"

	"github.com/halyard-robotics/halyard/servo"
)

// The packet that is sent to find an echo is an instruction of protocol 2.0 to an id that no servo can have.
func TestIgnored(t *testing.T) {
	want := AppendInstruction2(nil, &Instruction{ID: 0xFD, Op: Action})
	if got := servo.Ignored(); !bytes.Equal(got, want) {
		t.Errorf("got % X, want % X", got, want)
	}
}
