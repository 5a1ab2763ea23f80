package main

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/sim/actuator"
)

// The page of the tools has every check that a fault is named by, and every sub-command of the tools.
func TestToolsDoc(t *testing.T) {
	data, err := os.ReadFile("../../docs/tools.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	for _, l := range ailments() {
		if l.check != "" && !strings.Contains(page, "`"+l.check+"`") {
			t.Errorf("docs/tools.md: lacks the check %s, by which %q is named", l.check, l.name)
		}
	}
	a := &app{}
	for _, c := range a.commands() {
		for _, sub := range c.Commands() {
			if want := "halyard " + c.Name() + " " + sub.Name(); !strings.Contains(page, want) {
				t.Errorf("docs/tools.md: lacks %s", want)
			}
		}
	}
	for _, name := range []string{"ports", "scan", "setup", "registers", "doctor", "emulate"} {
		if !strings.Contains(page, "\n## "+name+": ") {
			t.Errorf("docs/tools.md: lacks a section of %s", name)
		}
	}
}

// The page of the devices has every word that a config may say for one.
func TestHardwareDoc(t *testing.T) {
	data, err := os.ReadFile("../../docs/hardware.md")
	if err != nil {
		t.Fatal(err)
	}
	words := slices.Concat(sortedKeys(busTypes), sortedKeys(sensorKinds()), sortedKeys(outputKinds()))
	for _, word := range append(words, "p2os", "v4l2", "estop", "lights", "gate") {
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
		for _, b := range busTypes {
			driven = driven || !b.duplex && b.lookup(name) != nil
		}
		if want := fmt.Sprintf(" | %g V | %g A | %g A | ", k.NominalVolts, k.StallCurrent, math.Ceil(6*k.StallCurrent-1e-9)); driven && !strings.Contains(rows[name], want) {
			t.Errorf("docs/hardware.md, supplies of %s: got %q, want%s", name, rows[name], want)
		}
	}
}
