package control

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/haltest"
)

// restarting is a body whose second joint restarts when a reset comes, from the next cycle on, and then has the fault
// left. Its first joint never answers.
type restarting struct {
	*haltest.Body
	reset atomic.Bool
	reads int // since then
	left  error
}

func (b *restarting) Read(f *hal.Frame) error {
	silence := &hal.Error{Kind: hal.Timeout, Op: "read", Err: errors.New("no reply")}
	if b.Silent[0] = silence; b.reset.Load() {
		switch b.reads++; {
		case b.reads < 10:
			b.Silent[1] = silence
		case b.left != nil:
			b.Silent[1] = b.left
		default:
			delete(b.Silent, 1)
		}
	}
	return b.Body.Read(f)
}

// A reset waits for the device that it restarts, and for no other, and tells what the restart has not ended.
func TestResetWaitsForTheRestart(t *testing.T) {
	for _, left := range []error{nil, &hal.Error{Kind: hal.BusFault, Op: "alarm", Err: errors.New("overload")}} {
		rig, err := hal.New(hal.Config{Name: "arm", Mode: hal.Realtime, Period: 10 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		body := &restarting{Body: haltest.NewBody("shoulder", "elbow"), left: left}
		if _, err := rig.Add(hal.AgentConfig{Name: "left", Body: body, World: body}); err != nil {
			t.Fatal(err)
		}
		rig.AddStopInput(func() error { body.reset.Store(rig.Latched() || body.reset.Load()); return nil })
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- rig.Run(ctx) }()
		for range 3 {
			rig.BetweenCycles(func() {})
		}
		rig.EmergencyStop("test")
		tick := time.NewTicker(armStep)
		err = recovered(rig, tick.C)
		tick.Stop()
		var reads int
		rig.BetweenCycles(func() { reads = body.reads })
		if left == nil && err != nil || left != nil && (err == nil || !strings.Contains(err.Error(), "overload")) {
			t.Errorf("left %v: got %v", left, err)
		}
		if reads < 10 {
			t.Errorf("left %v: it ended %d cycles after the reset, while the device restarts", left, reads)
		}
		stop()
		<-done
	}
}
