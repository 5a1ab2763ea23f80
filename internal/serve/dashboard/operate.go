package dashboard

import (
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/manual"
)

// maxOperate bounds a request to /operate, bytes, and maxOperations those under way.
const (
	maxOperate    = 8 << 20
	maxOperations = 4
)

// operate executes a manual.Request of the body, POST /operate?rig=0, and answers with a line of JSON for each
// manual.Update; the last one has done, or the error. A client that leaves ends it: the joints hold.
func (s *Server) operate(w http.ResponseWriter, r *http.Request) {
	shown := s.rig(r)
	if shown == nil {
		http.Error(w, "rig: want the index of a rig that is shown", http.StatusBadRequest)
		return
	}
	if err := late(r, "operate"); err != nil {
		http.Error(w, err.Error(), http.StatusConflict)
		return
	}
	select {
	case s.operations <- struct{}{}:
		defer func() { <-s.operations }()
	default:
		http.Error(w, "got too many requests at a time", http.StatusServiceUnavailable)
		return
	}
	defer shown.Rig.Contain("dashboard")
	var q manual.Request
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxOperate)).Decode(&q); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/jsonl")
	out, flow := json.NewEncoder(w), http.NewResponseController(w)
	send := func(u manual.Update) error {
		flow.SetWriteDeadline(time.Now().Add(writeTimeout))
		return errors.Join(out.Encode(u), flow.Flush())
	}
	if err := manual.Run(r.Context(), shown.Rig, &q, send); err != nil {
		send(manual.Update{Error: err.Error(), Kind: hal.KindOf(err), Joints: []manual.Joint{}})
	}
}
