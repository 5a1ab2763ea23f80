package doctor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers/camera"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/plan"
)

// firstPicture is how long a camera may take for its first picture: some need seconds to find the light.
const firstPicture = 6 * time.Second

// Camera examines one camera; a real one takes a picture.
func (x *DeviceCheck) Camera(q *plan.CameraPlan) {
	body, examined := x.body(q.Body)
	if !examined {
		return
	}
	as := *q
	as.Body = body
	found, err := x.picture(&as)
	x.add("camera", "", q.Name, found, err, q.Fix(err))
}

// picture agrees with a camera on its pictures and, where time passes for it, waits for one.
func (x *DeviceCheck) picture(q *plan.CameraPlan) (found string, err error) {
	node, device, err := x.b.CameraNode(q)
	if err != nil {
		return "", err
	}
	if device != nil && x.blur != nil {
		x.blur(device)
	}
	cam, err := camera.New(q.Camera(x.plan.Agents[q.Agent].Config.Name, node))
	if err != nil {
		return "", err
	}
	if err := cam.Open(); err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, cam.Close()) }()
	found = fmt.Sprintf("%s offers %dx%d %s", q.Config.Device, q.Width, q.Height, q.Config.Format)
	if q.Body == configs.Emulated {
		return found, nil
	}
	watch, err := cam.Watch(0)
	if err != nil {
		return found, err
	}
	defer watch.Close()
	ctx, cancel := context.WithTimeout(context.Background(), firstPicture)
	defer cancel()
	began := time.Now()
	p, err := watch.Next(ctx, 0)
	if errors.Is(err, context.DeadlineExceeded) {
		return found, &hal.Error{Kind: hal.Timeout, Op: "camera " + q.Name,
			Err: fmt.Errorf("no picture within %v", firstPicture), Try: "plug it in again"}
	}
	if err != nil {
		return found, err
	}
	p.Release()
	return fmt.Sprintf("%s, a picture after %v", found, time.Since(began).Round(10*time.Millisecond)), nil
}
