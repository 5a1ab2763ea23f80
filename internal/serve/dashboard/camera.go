package dashboard

import (
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/protocols/topics"
)

const (
	maxCameras    = 8 // that are shown at a time, in all tabs
	imageInterval = 100 * time.Millisecond
	boundary      = "picture"
)

// camera sends the pictures of a camera, one after the other as the browser reads them, until it disconnects.
func (s *Server) camera(w http.ResponseWriter, r *http.Request) {
	images, err := s.watch(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	defer images.Close()
	select {
	case s.cameras <- struct{}{}:
		defer func() { <-s.cameras }()
	default:
		http.Error(w, fmt.Sprintf("cameras: got more than %d, want fewer", maxCameras), http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "multipart/x-mixed-replace; boundary="+boundary)
	control := http.NewResponseController(w)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for last := uint64(0); ; {
		p, err := images.Next(r.Context(), last)
		if err != nil {
			return
		}
		last = p.Sequence
		picture := topics.Encode(p)
		p.Release()
		if picture != nil {
			control.SetWriteDeadline(time.Now().Add(writeTimeout))
			fmt.Fprintf(w, "--%s\r\nContent-Type: image/%s\r\nContent-Length: %d\r\n\r\n", boundary, picture.Format,
				len(picture.Data))
			w.Write(picture.Data)
			fmt.Fprint(w, "\r\n")
			if control.Flush() != nil {
				return
			}
		}
		timer.Reset(imageInterval)
		select {
		case <-timer.C:
		case <-r.Context().Done():
			return
		}
	}
}

// watch opens the camera of a request: ?rig=0&agent=NAME&camera=NAME.
func (s *Server) watch(r *http.Request) (hal.ImageStream, error) {
	q := r.URL.Query()
	if rig, err := strconv.Atoi(q.Get("rig")); err == nil {
		if a := s.sampler.find(rig, q.Get("agent")); a != nil && a.robot.Cameras != nil {
			i := slices.IndexFunc(a.agent.Layout().Cameras,
				func(c hal.Camera) bool { return c.Name == q.Get("camera") })
			if i >= 0 {
				return a.robot.Cameras.Watch(i)
			}
		}
	}
	return nil, fmt.Errorf("camera: got %.50q of %.50q, want a camera of the layout", q.Get("camera"), q.Get("agent"))
}

// maxHex bounds the bytes of a frame that are shown as such; its packets are explained all the same.
const maxHex = 64

// frameText is a run of bytes on a line in one direction.
type frameText struct {
	Out     bool     `json:"out"`
	Size    int      `json:"size"`
	Hex     string   `json:"hex"`
	Packets []string `json:"packets"` // in words; empty where the vendor's are not explained
}

// frames answers with the newest bytes of a line: ?rig=0&bus=NAME. It is watched for a few seconds after each request.
func (s *Server) frames(w http.ResponseWriter, r *http.Request) {
	list := []frameText{}
	bus := r.URL.Query().Get("bus")
	if source := s.rig(r); source != nil && source.Taps != nil {
		var explain func(asked, data []byte, host bool) []string
		if source.System != nil {
			explain = source.System.Explainer(bus)
		}
		var asked []byte
		for _, f := range source.Taps.Frames(bus) {
			t := frameText{f.Out, f.Size, hex.EncodeToString(f.Data[:min(len(f.Data), maxHex)]), []string{}}
			if explain != nil {
				t.Packets = append(t.Packets, explain(asked, f.Data, f.Out)...)
			}
			if f.Out {
				asked = f.Data
			}
			list = append(list, t)
		}
	}
	reply(w, http.StatusOK, list)
}
