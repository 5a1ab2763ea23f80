package imageserver

import (
	"bytes"
	"testing"
	"testing/synctest"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/protocols/protocolstest"
)

// TestViewOfAConnection: two programs on one machine each see their own robot, independent of the other's requests; a
// view of an address applies to all its connections.
func TestViewOfAConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, protocolstest.NewPipes("pipes"), Options{FrameRate: 1000})
		s.world.add("R1")
		s.world.add("R2")
		see := func(what string, got, want byte) {
			t.Helper()
			if got != want {
				t.Errorf("%s: got %d, want %d", what, got, want)
			}
		}
		s.view("10.0.0.2 R1/Rear 10.0.0.2:1")
		a := dialFrom(s.lines, "10.0.0.2")
		defer a.Close()
		see("the first one's", first(t, a)[0], 11)
		s.view("10.0.0.2 R2/Camera 10.0.0.2:2")
		b := dialFrom(s.lines, "10.0.0.2")
		defer b.Close()
		see("the second one's", first(t, b)[0], 20)
		send(t, a, "OK")
		see("the first one's, still", first(t, a)[0], 11)
		s.view("10.0.0.2 R2/Rear 10.0.0.2:2")
		send(t, b, "OK")
		see("the second one's, changed", first(t, b)[0], 21)
		s.view("10.0.0.2 R1/Camera")
		send(t, b, "OK")
		see("the address's", first(t, b)[0], 10)
		s.view("10.0.0.2")
		s.view("10.0.0.2 R2/Camera 10.0.0.2:3")
		send(t, a, "OK")
		see("another connection, where its own has ended", first(t, a)[0], 20)
		s.view("10.0.0.2 - 10.0.0.2:3")
		send(t, a, "OK")
		see("the default", first(t, a)[0], 10)
	})
}

// TestQuad: four cameras in one picture, and black for an empty place.
func TestQuad(t *testing.T) {
	w := &world{}
	g := w.add("R1")
	g.width, g.height = 4, 2
	s := &Server{find: w.find}
	q, err := s.watch(view{"R1", "Rear,,,Camera"})
	if err != nil {
		t.Fatal(err)
	}
	p, err := q.Next(t.Context(), 0)
	if err != nil || p.Sequence != 1 || p.Width != 4 || p.Height != 2 {
		t.Fatalf("got %+v, %v", p, err)
	}
	if p.RGB[0] != 11 || p.RGB[3*2] != 0 || p.RGB[3*4] != 0 || p.RGB[3*(4+2)] != 10 {
		t.Errorf("got % d, want 11 at the upper left, 10 at the lower right", p.RGB)
	}
	q.Close()
	if g.open != 0 || g.held != 0 {
		t.Errorf("got %d watches open and %d pictures held, want none", g.open, g.held)
	}
	if dark, err := s.watch(view{"R1", ",,,"}); err != nil {
		t.Error(err)
	} else if _, err := dark.Next(t.Context(), 0); err == nil {
		t.Error("no camera: got a picture")
	}
	if _, err := s.watch(view{"R9", "Camera,,,"}); err == nil {
		t.Error("no such robot: got no error")
	}
	// Odd sizes, and cameras of another size: every pixel is written once, none outside.
	for _, size := range [][2]int{{1, 1}, {3, 5}, {5, 3}} {
		all := &hal.Picture{Width: size[0], Height: size[1], RGB: make([]byte, 3*size[0]*size[1])}
		for i := range 4 {
			shrink(all, &hal.Picture{Width: 2, Height: 7, RGB: bytes.Repeat([]byte{9}, 42)}, i&1, i>>1)
		}
		if n := bytes.Count(all.RGB, []byte{9}); n != len(all.RGB) {
			t.Errorf("%v: got %d of %d bytes", size, n, len(all.RGB))
		}
	}
}
