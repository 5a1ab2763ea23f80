package sim

import (
	"errors"
	"fmt"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/sim/camera"
)

// lens is how near to a robot's camera things are looked through, m: the glass of its own housing.
const lens = 0.02

// cameras are the robot's, for the gallery.
func (b *Body) cameras() []camera.Camera {
	if len(b.parts) == 0 {
		return nil
	}
	list := make([]camera.Camera, len(b.model.Cameras))
	for i := range list {
		c := &b.model.Cameras[i]
		list[i] = camera.Camera{Name: b.name + "/" + c.Name, Body: b.at.body + c.Body, Mount: c.Pose,
			Width: c.Width, Height: c.Height, FieldOfView: b.fov[i], Near: lens}
	}
	return list
}

// Watch opens a stream of one of the robot's cameras; see hal.CameraSource. Pictures are rendered only while there is
// one.
func (b *Body) Watch(index int) (hal.ImageStream, error) {
	return b.scene.gallery.watch(b.name, index)
}

// Zoom sets a camera's field of view, rad, within its range; pictures from now on have it.
func (b *Body) Zoom(index int, fov float64) error {
	if index < 0 || index >= len(b.fov) || len(b.parts) == 0 {
		return refused("zoom", b.name, errors.New("got a camera that it does not have"))
	}
	if c := &b.model.Cameras[index]; !(fov >= c.MinFOV && fov <= c.MaxFOV) {
		return refused("zoom", b.name, fmt.Errorf("got %g rad, want %g to %g", fov, c.MinFOV, c.MaxFOV))
	}
	b.fov[index] = fov
	b.scene.updateGallery()
	return nil
}

// Switch turns the headlight on or off, for later pictures. It fails if the robot has none.
func (b *Body) Switch(on bool) error {
	if b.model.Rescue == nil || !b.model.Rescue.Headlight || len(b.parts) == 0 {
		return refused("headlight", b.name, errors.New("got a robot that has none"))
	}
	if b.lit != on {
		b.lit = on
		b.scene.updateGallery()
	}
	return nil
}

// Lit reports whether the headlight is on.
func (b *Body) Lit() bool { return b.lit }
