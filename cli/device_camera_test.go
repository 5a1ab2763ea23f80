package cli

import (
	"bytes"
	"errors"
	"image/jpeg"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/internal/protocols/imageserver"
	"github.com/halyard-robotics/halyard/protocols/okon"
)

// The doctor tells of a camera; list and emulate do too.
func TestDoctorOfCameras(t *testing.T) {
	code, out, text := runApp(t, "doctor", "okon", "--body", "emulated", "-o", "jsonl")
	if code != 0 || !strings.Contains(out, `"check":"camera","state":"ok"`) ||
		!strings.Contains(out, `v4l2 offers 640x360 mjpeg`) {
		t.Errorf("exit %d: %s\n%s", code, text, out)
	}
	code, out, _ = runApp(t, "doctor", "okon", "--body", "real", "-o", "jsonl", "--set",
		"agents[0].hardware.cameras.front.port="+t.TempDir()+"/video9")
	if code != 3 || !strings.Contains(out, `"check":"camera","state":"fail"`) ||
		!strings.Contains(out, "no such device") || !strings.Contains(out, "ls /dev/v4l/by-id") {
		t.Errorf("absent: exit %d:\n%s", code, out)
	}
	if code, out, _ := runApp(t, "list", "okon", "--body", "emulated", "-o", "jsonl"); code != 0 ||
		!strings.Contains(out, `"on":"v4l2 mjpeg"`) {
		t.Errorf("list: exit %d:\n%s", code, out)
	}
}

// Okon's video channel and USARSim's image server serve the pictures of emulated cameras, in real time.
func TestServeCamera(t *testing.T) {
	r := startServe(t, "okon", "--body", "emulated", "--set", "agents[0].hardware.cameras.front.width=96", "--set",
		"agents[0].hardware.cameras.front.height=54",
		"--set", "servers[2]={protocol: imageserver, listen: \"127.0.0.1:0\", format: good}", "--listen",
		"okon=127.0.0.1:0", "--listen", "okon-video=127.0.0.1:0")
	v, err := okon.DialVideo(r.address(t, "okon-video"), 20*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	var jpg []byte
	for range 20 { // the channel is patient for a second alone
		if jpg, err = v.Next(); err == nil {
			break
		}
		if refused := (*okon.Refusal)(nil); !errors.As(err, &refused) {
			t.Fatal(err)
		}
	}
	m, err := jpeg.DecodeConfig(bytes.NewReader(jpg))
	if err != nil || m.Width != 96 || m.Height != 54 {
		t.Errorf("okon-video: got %dx%d, %v", m.Width, m.Height, err)
	}
	eye, err := imageserver.Dial(r.address(t, "imageserver"), 20*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer eye.Close()
	p, err := eye.Next()
	if err != nil {
		t.Fatal(err)
	}
	if m, err := jpeg.DecodeConfig(bytes.NewReader(p.Data)); err != nil || m.Width != 96 {
		t.Errorf("imageserver: got format %v, %dx%d, %v", p.Format, m.Width, m.Height, err)
	}
}
