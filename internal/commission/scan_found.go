package commission

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/servo"
)

// FoundServo is one servo on a line, or what is in the way of reading it.
type FoundServo struct {
	Port     string        `json:"port"`
	Baud     int           `json:"baud"`
	Type     string        `json:"type"` // of the bus that it would be on
	ID       int           `json:"id"`
	Model    string        `json:"model"`
	Number   int           `json:"number"`
	Firmware string        `json:"firmware"` // with its minor version
	Voltage  report.Number `json:"voltage_v"`
	Finding  string        `json:"finding,omitempty"` // two servos with this id, an unknown model
}

func (f FoundServo) Cells() report.Cells {
	return report.Cells{{"id", f.ID}, {"model", f.Model}, {"number", f.Number}, {"firmware", f.Firmware},
		{"protocol", f.Type}, {"baud", f.Baud}, {"volts", f.Voltage}, {"finding", f.Finding}}
}

// reasonOf is an error's text without its place.
func reasonOf(err error) string {
	var e *hal.Error
	switch {
	case errors.Is(err, servo.ErrUnknownModel):
		return servo.ErrUnknownModel.Error()
	case errors.As(err, &e):
		return e.Err.Error()
	}
	return err.Error()
}

// summary is "ids 1-6: MODEL x6", or "nothing".
// spoken names the protocols of the servos that were found; asked is the one in which they were asked, which others may
// answer too.
func spoken(found []FoundServo, asked string) string {
	var types []string
	for _, f := range found {
		if !slices.Contains(types, f.Type) {
			types = append(types, f.Type)
		}
	}
	if len(types) == 0 {
		return asked
	}
	return strings.Join(types, " and ")
}

func summary(found []FoundServo) string {
	if len(found) == 0 {
		return "nothing"
	}
	var ids []int
	count := map[string]int{}
	for _, f := range found {
		ids = append(ids, f.ID)
		count[f.Model]++
	}
	var models []string
	for name, n := range count {
		name = cmp.Or(name, "unknown")
		models = append(models, fmt.Sprintf("%s x%d", name, n))
	}
	slices.Sort(models)
	return "ids " + Spans(ids) + ": " + strings.Join(models, ", ")
}

// Spans writes sorted ids as "1-6, 20".
func Spans(ids []int) string {
	var parts []string
	for i := 0; i < len(ids); {
		k := i
		for k+1 < len(ids) && ids[k+1] == ids[k]+1 {
			k++
		}
		if part := strconv.Itoa(ids[i]); k > i {
			parts = append(parts, part+"-"+strconv.Itoa(ids[k]))
		} else {
			parts = append(parts, part)
		}
		i = k + 1
	}
	return strings.Join(parts, ", ")
}

// listed writes numbers as "57600, 1000000".
func listed(numbers []int) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(numbers), "[]"), " ", ", ")
}
