package dashboard

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestContrast computes the contrasts of the colours of style.css in both themes: 4.5 for text, 3 for the edges of
// controls (WCAG 2.2, 1.4.3 and 1.4.11).
func TestContrast(t *testing.T) {
	b, err := web.ReadFile("web/style.css")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), ":root {")
	light, rest, _ := strings.Cut(rest, "}")
	_, rest, found := strings.Cut(rest, `:root[data-theme="dark"] {`)
	if !found {
		t.Fatal("style.css: got no dark theme")
	}
	dark, _, _ := strings.Cut(rest, "}")
	for theme, text := range map[string]string{"light": light, "dark": dark} {
		colours := map[string]float64{}
		for _, m := range regexp.MustCompile(`--([a-z-]+): #([0-9a-f]{3,6});`).FindAllStringSubmatch(text, -1) {
			colours[m[1]] = luminance(t, m[2])
		}
		check := func(front, back string, want float64) {
			x, known := colours[front]
			y, also := colours[back]
			if !known || !also {
				t.Fatalf("%s: got no colour %s or %s", theme, front, back)
			}
			got := (max(x, y) + 0.05) / (min(x, y) + 0.05)
			t.Logf("%-5s %-9s on %-6s %5.2f (%.1f)", theme, front, back, got, want)
			if got < want {
				t.Errorf("%s: %s on %s: got %.2f, want %.1f", theme, front, back, got, want)
			}
		}
		for _, back := range []string{"back", "card"} {
			for _, front := range []string{"text", "soft", "accent", "sim", "emulated", "real", "alarm", "warn"} {
				check(front, back, 4.5)
			}
			check("edge", back, 3)
		}
		check("on-red", "red", 4.5)
		check("on-accent", "accent", 4.5)
		for _, mark := range []string{"text", "accent"} { // of a joint and of its goal
			check(mark, "bar", 3)
		}
	}
}

// luminance of a colour RRGGBB or RGB.
func luminance(t *testing.T, hex string) float64 {
	t.Helper()
	if len(hex) == 3 {
		hex = fmt.Sprintf("%c%c%c%c%c%c", hex[0], hex[0], hex[1], hex[1], hex[2], hex[2])
	}
	sum := 0.0
	for i, k := range []float64{0.2126, 0.7152, 0.0722} {
		n, err := strconv.ParseUint(hex[2*i:2*i+2], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		v := float64(n) / 255
		if v <= 0.04045 {
			v /= 12.92
		} else {
			v = math.Pow((v+0.055)/1.055, 2.4)
		}
		sum += k * v
	}
	return sum
}
