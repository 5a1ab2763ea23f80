package report

import (
	"bytes"
	"fmt"
	"html"
	"iter"
	"math"
	"strings"
)

// Plot is points and lines over two axes, for a terminal or as SVG. The first series lies below the others.
type Plot struct {
	Title, X, Y string // of the axes, with units
	Series      []Series
}

// Series is one set of points, or one line. Points that are not numbers are left out.
type Series struct {
	Name string
	X, Y []float64
	Line bool
}

// points are the points of s that are numbers.
func (s *Series) points() iter.Seq2[float64, float64] {
	return func(yield func(x, y float64) bool) {
		for i, x := range s.X {
			if v := x + s.Y[i]; !math.IsNaN(v) && !math.IsInf(v, 0) && !yield(x, s.Y[i]) {
				return
			}
		}
	}
}

// marks and lines are the points of series in a terminal, and colours those of an SVG: of Okabe and Ito, which most
// eyes tell apart.
var (
	marks   = []rune("ox+*#")
	lines   = []rune(".:'-~")
	colours = []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#000000"}
)

// bounds are the least and greatest of all numbers, a little apart where they are one.
func (p *Plot) bounds() (x, y [2]float64) {
	x, y = [2]float64{math.Inf(1), math.Inf(-1)}, [2]float64{math.Inf(1), math.Inf(-1)}
	for _, s := range p.Series {
		for sx, sy := range s.points() {
			x[0], x[1] = math.Min(x[0], sx), math.Max(x[1], sx)
			y[0], y[1] = math.Min(y[0], sy), math.Max(y[1], sy)
		}
	}
	for _, b := range []*[2]float64{&x, &y} {
		if !(b[0] <= b[1]) {
			b[0], b[1] = 0, 1
		}
		if b[1]-b[0] < 1e-12 {
			b[0], b[1] = b[0]-0.5, b[1]+0.5
		}
	}
	return x, y
}

// Text draws p with so many columns and rows of characters.
func (p *Plot) Text(columns, rows int) string {
	x, y := p.bounds()
	cells := make([][]rune, rows)
	for i := range cells {
		cells[i] = []rune(strings.Repeat(" ", columns))
	}
	var legend []string
	for k, s := range p.Series {
		mark := marks[k%len(marks)]
		if s.Line {
			mark = lines[k%len(lines)]
		}
		legend = append(legend, fmt.Sprintf("%c %s", mark, s.Name))
		for sx, sy := range s.points() {
			c := int(math.Round((sx - x[0]) / (x[1] - x[0]) * float64(columns-1)))
			r := int(math.Round((y[1] - sy) / (y[1] - y[0]) * float64(rows-1)))
			cells[r][c] = mark
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s over %s\n", p.Title, p.Y, p.X)
	for i, row := range cells {
		label := ""
		switch i {
		case 0:
			label = fmt.Sprintf("%.3g", y[1])
		case rows - 1:
			label = fmt.Sprintf("%.3g", y[0])
		}
		fmt.Fprintf(&b, "%9s |%s\n", label, strings.TrimRight(string(row), " "))
	}
	left := fmt.Sprintf("%.3g", x[0])
	fmt.Fprintf(&b, "%9s +%s\n%10s %s%*.3g\n%10s %s\n", "", strings.Repeat("-", columns), "", left, columns-len(left),
		x[1], "", strings.Join(legend, "   "))
	return b.String()
}

// SVG draws p as a picture of 640 by 400.
func (p *Plot) SVG() []byte {
	const left, right, top, bottom, wide, high = 70, 20, 40, 60, 640, 400
	x, y := p.bounds()
	px := func(v float64) float64 { return left + (v-x[0])/(x[1]-x[0])*(wide-left-right) }
	py := func(v float64) float64 { return high - bottom - (v-y[0])/(y[1]-y[0])*(high-top-bottom) }
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n", wide, high)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="white"/><text x="%d" y="22" font-size="15">%s</text>`+"\n",
		wide, high, left, html.EscapeString(p.Title))
	for i := range 6 {
		at := float64(i) / 5
		vx, vy := x[0]+at*(x[1]-x[0]), y[0]+at*(y[1]-y[0])
		fmt.Fprintf(&b, `<path d="M%.1f %dV%d M%d %.1fH%d" stroke="#ddd"/><text x="%.1f" y="%d" text-anchor="middle">%.3g</text><text x="%d" y="%.1f" text-anchor="end">%.3g</text>`+"\n",
			px(vx), top, high-bottom, left, py(vy), wide-right, px(vx), high-bottom+16, vx, left-6, py(vy)+4, vy)
	}
	fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="middle">%s</text><text transform="translate(16 %d) rotate(-90)" text-anchor="middle">%s</text>`+"\n",
		(left+wide-right)/2, high-bottom+34, html.EscapeString(p.X), (top+high-bottom)/2, html.EscapeString(p.Y))
	for k, s := range p.Series {
		colour := colours[k%len(colours)]
		fmt.Fprintf(&b, `<text x="%d" y="%d" fill="%s">%s</text>`+"\n", left+k*140, high-8, colour,
			html.EscapeString(s.Name))
		pen := "M"
		if s.Line {
			fmt.Fprintf(&b, `<path fill="none" stroke="%s" stroke-width="1.5" d="`, colour)
		}
		for sx, sy := range s.points() {
			if s.Line {
				fmt.Fprintf(&b, "%s%.1f %.1f", pen, px(sx), py(sy))
				pen = "L"
				continue
			}
			fmt.Fprintf(&b, `<circle cx="%.1f" cy="%.1f" r="3.5" fill="%s"/>`, px(sx), py(sy), colour)
		}
		if s.Line {
			b.WriteString(`"/>`)
		}
		b.WriteString("\n")
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}
