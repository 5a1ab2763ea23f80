package haltest_test

import (
	"errors"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/haltest"
)

func TestScriptedBodyConforms(t *testing.T) {
	haltest.Run(t, func(*testing.T) haltest.Subject {
		b := haltest.NewBody("x", "y")
		return haltest.Subject{Body: b, World: b}
	})
}

func TestScriptedFaults(t *testing.T) {
	b := haltest.NewBody("x", "y")
	f := hal.NewFrame(b.Layout())
	b.Silent[1] = errors.New("no answer")
	if err := b.Read(f); err != nil || f.Status[1].Err == nil || f.Status[0].Err != nil {
		t.Errorf("a silent joint: got %v, %v; want its own status alone", err, f.Status)
	}
	if err := (haltest.Worlds{b, b}).Advance(time.Second); err != nil {
		t.Error(err)
	}
}
