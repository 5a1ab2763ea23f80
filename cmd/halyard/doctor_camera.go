package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers/camera"
	"github.com/halyard-robotics/halyard/hal"
)

// The check of cameras:
//
//	camera       it is there, may be opened, is nobody else's, and offers the pictures that the config asks for; a real one
//	             takes one

// firstPicture is how long a camera may take for its first picture: some need seconds to find the light.
const firstPicture = 6 * time.Second

// camera examines one camera.
func (x *deviceCheck) camera(q *cameraPlan) {
	body, examined := x.body(q.body)
	if !examined {
		return
	}
	as := *q
	as.body = body
	found, err := x.picture(&as)
	x.add("camera", "", q.name, found, err, q.fix(err))
}

// fix is what helps against err.
func (q *cameraPlan) fix(err error) string {
	key := "hardware.cameras." + q.name
	var known *hal.Error
	switch errors.As(err, &known); {
	case known != nil && known.Kind == hal.Invalid:
		return "set the keys of " + key + " to what it offers"
	case known != nil && known.Kind != hal.Absent && known.Try != "":
		return known.Try
	}
	return "plug it in, or put its name into " + key + ".port: ls /dev/v4l/by-id"
}

// picture agrees with a camera on its pictures and, where time passes for it, waits for one.
func (x *deviceCheck) picture(q *cameraPlan) (found string, err error) {
	node, device, err := x.b.cameraNode(q)
	if err != nil {
		return "", err
	}
	if device != nil && x.blur != nil {
		x.blur(device)
	}
	cam, err := camera.New(q.camera(x.plan.agents[q.agent].config.Name, node))
	if err != nil {
		return "", err
	}
	if err := cam.Open(); err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, cam.Close()) }()
	found = fmt.Sprintf("%s offers %dx%d %s", q.config.Device, q.width, q.height, q.config.Format)
	if q.body == configs.Emulated {
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
		return found, &hal.Error{Kind: hal.Timeout, Op: "camera " + q.name, Err: fmt.Errorf("no picture within %v", firstPicture), Try: "plug it in again"}
	}
	if err != nil {
		return found, err
	}
	p.Release()
	return fmt.Sprintf("%s, a picture after %v", found, time.Since(began).Round(10*time.Millisecond)), nil
}
