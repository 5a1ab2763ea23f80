package yaml

import (
	"fmt"
	"slices"
	"strings"
)

// Closest returns the word of among that name was most likely meant to be, or "" where none is near. Case, - and _
// count as equal; otherwise one slip in three letters, two swapped neighbours being one, is near enough.
func Closest(name string, among []string) string {
	const longest = 64 // a longer name is not a typo
	if len(name) > longest {
		return ""
	}
	if word := successors[name]; slices.Contains(among, word) {
		return word
	}
	best, least := "", 1+max(1, len(name)/3)
	for _, word := range among {
		if len(word) > longest {
			continue
		}
		if d := distance(fold(name), fold(word)); d < least || d == least && best != "" && word < best {
			best, least = word, d
		}
	}
	return best
}

// successors are the present names of keys and values that older files name otherwise.
var successors = map[string]string{
	"acceleration": "accelerometer", "air": "reference_pressure", "celsius": "air_temperature", "drives": "mode",
	"field": "magnetometer", "gate": "output_enable", "hand": "manual", "hertz": "frequency", "idle": "idle_output",
	"keep": "keep_state", "lamps": "lights", "limp": "torque_off", "needed": "required", "opener": "serial_backend",
	"rates": "gyro", "reach": "range_max", "stops": "endstops", "truth": "ground_truth", "turns_about": "turn_center",
}

func fold(s string) string { return strings.ReplaceAll(strings.ToLower(s), "-", "_") }

// distance is the optimal string alignment distance: insertions, deletions, substitutions and swaps of neighbours.
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

// Meant is the fix of a mistyped name: `did you mean "body"?`, or "" where no word is near.
func Meant(name string, among []string) string {
	if c := Closest(name, among); c != "" {
		return fmt.Sprintf("did you mean %q?", c)
	}
	return ""
}
