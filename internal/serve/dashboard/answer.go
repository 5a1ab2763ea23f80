package dashboard

import (
	"html/template"
	"io"
)

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
