//go:build unix

package bench

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/halyard-robotics/halyard/internal/emulator/pty"
	"github.com/halyard-robotics/halyard/internal/must"
	"github.com/halyard-robotics/halyard/internal/supervise"
)

// processSources are the sources of stops that need the operating system's signals.
var processSources = []string{"signal"}

// processSources opens them. end closes them.
func (s *stopRig) processSources() (end func()) {
	signals, ended := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(signals, syscall.SIGUSR2)
	go func() {
		defer close(ended)
		for range signals {
			s.sys.Rig.EmergencyStop("a second signal")
		}
	}()
	s.triggers["signal"] = func() { syscall.Kill(os.Getpid(), syscall.SIGUSR2) }
	return func() {
		signal.Stop(signals)
		close(signals)
		<-ended
	}
}

// benchSupervisor measures the time from the last beat of a process that hangs to the torque-off telegram on its line,
// as the other end of the line reads it. The supervisor waits for supervise.MinTimeout.
func benchSupervisor(ctx context.Context, size Size, emit func(Result)) (err error) {
	defer must.Catch(&err)
	if len(size.Supervisor) == 0 {
		return nil
	}
	const period = 10 * time.Millisecond
	telegram := []byte{0xFF, 0xFF, 0xFE, 0x04, 0x03, 0x28, 0x00, 0xD2} // to all: torque off
	var acks []float64
	for range max(1, min(20, size.StepsOr(20)/5)) {
		line := must.Get(pty.Open(1_000_000))
		defer line.Close()
		end := must.Get(os.OpenFile(line.Path, os.O_RDWR|syscall.O_NOCTTY, 0))
		defer end.Close()
		v := must.Get(supervise.Start(ctx, size.Supervisor, supervise.MinTimeout,
			[]supervise.Line{{File: end, TorqueOff: telegram}}))
		defer v.Close()
		var last time.Time
		for range 20 {
			if err := v.Beat(); err != nil {
				return fmt.Errorf("supervisor: %w", err)
			}
			last = time.Now()
			time.Sleep(period)
		}
		var got []byte
		for b := make([]byte, 64); !bytes.Contains(got, telegram); {
			n, err := line.Read(b, time.Now().Add(3*time.Second))
			if err != nil {
				return fmt.Errorf("supervisor: %w", err)
			}
			got = append(got, b[:n]...)
		}
		acks = append(acks, time.Since(last).Seconds()*1e6)
		must.Be(ctx.Err())
	}
	emit(Result{"stop", "a line, supervisor", stopFigures(nil, acks, supervise.MinTimeout)})
	return nil
}
