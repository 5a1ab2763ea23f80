package lab

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/bench"
	"github.com/halyard-robotics/halyard/internal/must"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/sim"
	"github.com/halyard-robotics/halyard/sim/hydro"
	"github.com/halyard-robotics/halyard/sim/model"
)

// benchOkon measures an underwater robot and its protocol in this process: the physics without a rig; GET_SENS over
// loopback while the rig keeps its 50 Hz, in blocks that alternate with bare TCP round trips of the same length;
// pictures; and the timing of the control loop without and with clients that request pictures as fast as possible.
func benchOkon(ctx context.Context, size bench.Size, emit func(bench.Result)) error {
	for _, name := range hydro.Names() {
		f, err := benchVehicle(ctx, name, size.StepsOr(400_000))
		if err != nil {
			return fmt.Errorf("bench: okon: %s: %w", name, err)
		}
		emit(bench.Result{Bench: "okon", Case: name + " steps", Figures: f})
	}
	for _, clients := range []int{1, 8} {
		f, err := benchSensors(ctx, clients, size.StepsOr(100_000))
		if err != nil {
			return fmt.Errorf("bench: okon: %d clients: %w", clients, err)
		}
		emit(bench.Result{Bench: "okon", Case: fmt.Sprintf("GET_SENS %d clients", clients), Figures: f})
	}
	for camera, name := range []string{"colour", "depth"} {
		f, err := benchFrames(ctx, camera, size.StepsOr(100))
		if err != nil {
			return fmt.Errorf("bench: okon: %s: %w", name, err)
		}
		emit(bench.Result{Bench: "okon", Case: "pictures " + name, Figures: f})
	}
	span := size.Span()
	without, with, err := benchControl(ctx, span)
	if err != nil {
		return fmt.Errorf("bench: okon: control: %w", err)
	}
	emit(bench.Result{Bench: "okon", Case: "control without video", Figures: without})
	emit(bench.Result{Bench: "okon", Case: "control with video", Figures: with})
	return nil
}

// swimmer is a single vehicle in the pool with running thrusters.
type swimmer struct {
	scene *sim.Scene
	body  *sim.Vehicle
	frame *hal.Frame
}

// okonPeriod is the cycle of Okon's control laws.
const okonPeriod = 20 * time.Millisecond

func newSwimmer(name string) (_ *swimmer, err error) {
	defer must.Catch(&err)
	v := must.Get(hydro.Load(name))
	s := &swimmer{scene: sim.NewScene(sim.SceneConfig{Scene: func(seed int64) (*model.Scene,
		error) {
		return model.LoadScene("pool", seed)
	}})}
	s.body = must.Get(s.scene.AddVehicle(name, v, hal.Pose{}, sim.SensorNoise()))
	s.frame = hal.NewFrame(s.body.Layout())
	for i := range s.frame.Enable {
		s.frame.Enable[i], s.frame.Inputs[i] = true, 0.2
	}
	return s, nil
}

// Cycle does the work of a rig's cycle on a body, without a rig.
func (s *swimmer) Cycle() error {
	s.frame.Time += okonPeriod
	return errors.Join(s.body.Write(s.frame), s.scene.Advance(okonPeriod), s.body.Read(s.frame))
}

// again puts the vehicle back before it reaches a wall.
func (s *swimmer) again() error {
	return s.scene.Place(s.body.Name(), hal.Pose{Position: [3]float64{0, 0, -1.5}, Rotation: [4]float64{1}})
}

// benchVehicle counts steps of a millisecond; the bound is real time.
func benchVehicle(ctx context.Context, name string, steps int) (_ bench.Figures, err error) {
	defer must.Catch(&err)
	s := must.Get(newSwimmer(name))
	defer s.scene.Close()
	block := bench.RateOf(max(1, steps/20/bench.Blocks), s.Cycle)
	rates := must.Get(bench.Alternate(ctx, func() (float64, error) {
		if err := s.again(); err != nil {
			return 0, err
		}
		return block()
	}))
	rate := 20 * rates[0]
	return bench.Figures{{Name: "steps_per_s", Value: report.Number(rate)}, {Name: "real_time_per_s", Value: 1000},
		{Name: "ratio", Value: report.Number(rate / 1000)}}, nil
}

// benchFrames renders n pictures of one of Okon's cameras, each of another snapshot. The bound is the original's 35
// pictures a second.
func benchFrames(ctx context.Context, camera, n int) (_ bench.Figures, err error) {
	defer must.Catch(&err)
	s := must.Get(newSwimmer("okon"))
	defer s.scene.Close()
	w := must.Get(s.body.Watch(camera))
	defer w.Close()
	last, pixels := uint64(0), 0
	start := time.Now()
	for range n {
		must.Be(errors.Join(s.again(), s.Cycle()))
		p := must.Get(w.Next(ctx, last))
		last, pixels = p.Sequence, p.Width*p.Height
		p.Release()
	}
	rate := float64(n) / time.Since(start).Seconds()
	const original = 35
	return bench.Figures{{Name: "frames_per_s", Value: report.Number(rate)},
		{Name: "pixels", Value: report.Number(pixels)},
		{Name: "ns_per_ray", Value: report.Number(1e9 / rate / float64(pixels))},
		{Name: "original_per_s", Value: original}, {Name: "ratio", Value: report.Number(rate / original)}}, nil
}
