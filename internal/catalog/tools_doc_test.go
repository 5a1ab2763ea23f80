package catalog_test

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/sim/actuator"
)

// The page of the devices has every word that a config may say for one.
func TestHardwareDoc(t *testing.T) {
	data, err := os.ReadFile("../../docs/hardware.md")
	if err != nil {
		t.Fatal(err)
	}
	words := slices.Concat(catalog.BuiltinBuses().Names(), report.SortedKeys(catalog.SensorKinds()),
		report.SortedKeys(catalog.OutputKinds()))
	for _, word := range append(words, "p2os", "v4l2", "estop", "lights", "output_enable") {
		if !strings.Contains(string(data), "`"+word+"`") {
			t.Errorf("docs/hardware.md: lacks %s", word)
		}
	}
}

// The table of supplies has what each servo takes at most, as the simulated one does, and each servo there is.
func TestSupplyDoc(t *testing.T) {
	data, err := os.ReadFile("../../docs/hardware.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(data), "| word | at | stalls at |")
	rows := map[string]string{}
	for row := range strings.Lines(table) {
		for _, w := range regexp.MustCompile("`([a-z0-9-]+)`").FindAllStringSubmatch(row, -1) {
			if rows[w[1]] == "" && strings.HasPrefix(row, "|") {
				rows[w[1]] = row
			}
		}
	}
	for _, name := range actuator.Names() {
		k, _ := actuator.Lookup(name)
		driven := name == "mg996r"
		for _, b := range catalog.BuiltinBuses() {
			driven = driven || !b.Duplex && b.Lookup(name) != nil
		}
		if want := fmt.Sprintf(" | %g V | %g A | %g A | ", k.NominalVolts, k.StallCurrent,
			math.Ceil(6*k.StallCurrent-1e-9)); driven && !strings.Contains(rows[name], want) {
			t.Errorf("docs/hardware.md, supplies of %s: got %q, want%s", name, rows[name], want)
		}
	}
}
