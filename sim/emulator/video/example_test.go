package video_test

import (
	"context"
	"fmt"
	"log"
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/drivers/camera"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/v4l2"
	"github.com/halyard-robotics/halyard/sim/emulator/video"
)

// wall is what the camera looks at: one grey, near and far.
type wall struct{}

func (wall) Watch(int) (hal.ImageStream, error) { return wall{}, nil }
func (wall) Close()                             {}

func (wall) Next(_ context.Context, after uint64) (*hal.Picture, error) {
	p := &hal.Picture{Sequence: after + 1, Width: 64, Height: 48, RGB: make([]byte, 64*48*3)}
	for i := range p.RGB {
		p.RGB[i] = 128
	}
	return p, nil
}

// A program that looks through a camera is tried on an emulated one, frame by frame as V4L2 hands them out.
func Example() {
	device, err := video.New(video.Config{Name: "webcam", Source: wall{}, Sizes: [][2]int{{64, 48}},
		Pixels: []v4l2.Pixel{v4l2.YUYV}, Steady: true})
	if err != nil {
		log.Fatal(err)
	}
	// on a robot: camera.Reopener(path), nil
	webcam, err := camera.New(camera.Config{Name: "front", Node: device.Open, After: device.After,
		Encoding: "yuyv", Width: 64, Height: 48, Rate: 30})
	if err != nil {
		log.Fatal(err)
	}
	if err := webcam.Open(); err != nil {
		log.Fatal(err)
	}
	view, err := webcam.Watch(0)
	if err != nil {
		log.Fatal(err)
	}
	// The device's time passes beside the program.
	ctx, cancel := context.WithCancel(context.Background())
	var world sync.WaitGroup
	world.Go(func() {
		for ctx.Err() == nil && device.Advance(10*time.Millisecond) == nil {
		}
	})
	picture, err := view.Next(ctx, 0)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(picture.Width, picture.Height, picture.RGB[:3])
	picture.Release()
	cancel()
	world.Wait()
	view.Close()
	fmt.Println("closed:", webcam.Close())
	// Output:
	// 64 48 [128 128 128]
	// closed: <nil>
}
