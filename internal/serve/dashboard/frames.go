package dashboard

import (
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"

	"github.com/halyard-robotics/halyard/servo"
)

// maxHex bounds the bytes of a frame that are shown as such; its packets are explained all the same.
const maxHex = 64

// frameText is what went over a line in one direction.
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
	if rig, err := strconv.Atoi(r.URL.Query().Get("rig")); err == nil && rig >= 0 && rig < len(s.sampler.rigs) && s.sampler.rigs[rig].Taps != nil {
		source := &s.sampler.rigs[rig].Source
		explain, model := source.vendor(bus)
		var asked []byte
		for _, f := range source.Taps.Frames(bus) {
			t := frameText{f.Out, f.Size, hex.EncodeToString(f.Data[:min(len(f.Data), maxHex)]), []string{}}
			if explain != nil {
				t.Packets = append(t.Packets, explain(asked, f.Data, f.Out, model)...)
			}
			if f.Out {
				asked = f.Data
			}
			list = append(list, t)
		}
	}
	reply(w, list)
}

// vendor is how the packets on a line are explained, and what is on it. A line that is a part of a bus has its name and a number.
func (s *Source) vendor(line string) (explain func(asked, data []byte, host bool, model func(int) servo.Model) []string, model func(id int) servo.Model) {
	if s.System == nil {
		return nil, nil
	}
	p := s.System.Plan
	bus := line
	if _, ok := p.Config.Buses[bus]; !ok {
		bus = line[:max(0, strings.LastIndexByte(line, '_'))]
	}
	models := map[int]servo.Model{}
	for i := range p.Agents {
		for _, j := range p.Agents[i].Joints {
			if j.Hardware != nil && j.Servo != nil && j.Hardware.Bus == bus {
				models[j.Hardware.ID] = j.Servo
			}
		}
	}
	return p.Catalog.Buses.Of(p.Config.Buses[bus].Type).Explain, func(id int) servo.Model { return models[id] }
}
