package dashboard

import (
	"encoding/json"
	"errors"
	"html/template"
	"io"
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

// answerPage is the answer for browsers without scripts.
const answerPage = `<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Halyard: {{.Order}}</title>
<h1>{{.Order}}: {{if .Error}}{{.Error}}{{else}}done in {{.Millis}} ms{{end}}</h1>
<table><tr><th>Joint<th>State<th>Torque off acknowledged<th>Fault</tr>
{{range .Joints}}<tr><td>{{.Agent}}/{{.Joint}}<td>{{.State}}<td>{{if .Acked}}{{if acked .Acked}}yes{{else}}NO: cut the power{{end}}{{end}}<td>{{.Fault}}</tr>
{{end}}</table><p><a href="/">Back to the dashboard</a>
`

// page writes an answer as HTML.
func (a *Answer) page(w io.Writer) error {
	t, err := template.New("answer").Funcs(
		template.FuncMap{"acked": func(b *bool) bool { return b != nil && *b }}).Parse(answerPage)
	if err != nil {
		return err
	}
	return t.Execute(w, a)
}
