package camera_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/halyard-robotics/halyard/drivers/camera"
)

// Ten pictures of a webcam, as RGB. It is opened for the first viewer and closed behind the last. The example of
// sim/emulator/video looks through an emulated one.
func Example() {
	webcam, err := camera.New(camera.Config{
		Name:     "front",
		Node:     camera.Reopener("/dev/v4l/by-id/usb-046d_C270-video-index0"),
		Encoding: "mjpeg", Width: 640, Height: 480, Rate: 30,
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := webcam.Open(); err != nil { // what it cannot do is refused here: hal.Absent, hal.Busy, hal.Invalid
		log.Fatal(err)
	}
	defer webcam.Close()
	view, err := webcam.Watch(0)
	if err != nil {
		log.Fatal(err)
	}
	defer view.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	last := uint64(0)
	for range 10 {
		picture, err := view.Next(ctx, last) // newer than the last that was seen
		if err != nil {
			log.Fatal(err)
		}
		last = picture.Sequence
		fmt.Println(picture.Sequence, picture.Time, picture.Width, picture.Height, picture.RGB[:3])
		picture.Release() // its memory is used for a later one
	}
}
