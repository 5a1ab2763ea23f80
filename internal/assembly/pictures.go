package assembly

import (
	"context"
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/protocols/topics"
)

// joinInterval is how long a robot may be there before its cameras are watched.
const joinInterval = 200 * time.Millisecond

// WatchCameras calls take with at most rate compressed pictures a second of each camera, also those of robots that
// join, from several goroutines, until end returns.
func (s *System) WatchCameras(rate float64, take func(agent, camera string, at time.Duration, format string,
	data []byte)) (end func()) {
	interval := time.Duration(float64(time.Second) / rate)
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	all.Go(func() {
		defer s.Rig.Contain("cameras")
		seen := map[*hal.Agent]bool{}
		for timer := time.NewTimer(0); ; timer.Reset(joinInterval) {
			select {
			case <-timer.C:
			case <-ctx.Done():
				timer.Stop()
				return
			}
			there := map[*hal.Agent]bool{}
			for _, a := range s.Rig.Agents() {
				there[a] = true
				source, err := s.Sight(a)
				if seen[a] || err != nil {
					continue
				}
				for i := range a.Layout().Cameras {
					name := a.Layout().Cameras[i].Name
					all.Go(func() {
						defer s.Rig.Contain("cameras")
						if err := watchCamera(ctx, source, i, interval,
							func(p *topics.Picture) { take(a.Name(), name, p.Time, p.Format, p.Data) }); err != nil &&
							ctx.Err() == nil {
							s.Log.Warn("camera is not watched", "agent", a.Name(), "camera", name, "fault", err)
						}
					})
				}
			}
			seen = there
		}
	})
	return func() { cancel(); all.Wait() }
}

// watchCamera calls take with the pictures of a camera until ctx ends, or the camera is removed.
func watchCamera(ctx context.Context, source hal.CameraSource, camera int, interval time.Duration,
	take func(*topics.Picture)) error {
	images, err := source.Watch(camera)
	if err != nil {
		return err
	}
	defer images.Close()
	timer := time.NewTimer(0)
	defer timer.Stop()
	due := time.Now()
	for last := uint64(0); ; {
		select {
		case <-timer.C:
		case <-ctx.Done():
			return nil
		}
		p, err := images.Next(ctx, last)
		if err != nil {
			return err
		}
		last = p.Sequence
		picture := topics.Encode(p)
		p.Release()
		if picture != nil {
			take(picture)
		}
		now := time.Now()
		if due = due.Add(interval); due.Before(now) {
			due = now
		}
		timer.Reset(due.Sub(now))
	}
}
