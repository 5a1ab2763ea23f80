package report

import (
	"encoding/xml"
	"math"
	"strings"
	"testing"
)

func TestPlot(t *testing.T) {
	p := &Plot{Title: "a < b", X: "x m", Y: "y N", Series: []Series{
		{Name: "line", X: []float64{0, 10}, Y: []float64{0, 20}, Line: true},
		{Name: "points", X: []float64{0, 5, 10, 7}, Y: []float64{20, 10, 0, math.NaN()}},
	}}
	rows := strings.Split(p.Text(11, 5), "\n")
	for i, want := range map[int]string{0: "a < b: y N over x m", 1: "       20 |x         .", 3: "          |     x",
		5: "        0 |.         x", 8: "           . line   x points"} {
		if rows[i] != want {
			t.Errorf("row %d: got %q, want %q", i, rows[i], want)
		}
	}
	svg := p.SVG()
	if err := xml.Unmarshal(svg, new(struct{ XMLName xml.Name })); err != nil || strings.Contains(string(svg), "NaN") ||
		strings.Count(string(svg), "<circle") != 3 {
		t.Errorf("got %v and\n%s\nwant XML with three points", err, svg)
	}
	for _, empty := range []*Plot{{}, {Series: []Series{{X: []float64{1}, Y: []float64{1}}}}} {
		if text := empty.Text(10, 4); !strings.Contains(text, "|") || strings.Contains(text, "NaN") {
			t.Errorf("got %q of next to nothing", text)
		}
	}
}
