package dashboard

import (
	"encoding/hex"
	"net/http"
)

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
