package commission

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/servo/dynamixel"
)

// FoundServo is one servo on a line, or what stands in the way of reading it.
type FoundServo struct {
	Port     string        `json:"port"`
	Baud     int           `json:"baud"`
	Protocol int           `json:"protocol"` // of Dynamixel; 0 = another vendor
	Type     string        `json:"type"`     // of the bus that it would are connected to
	ID       int           `json:"id"`
	Model    string        `json:"model"`
	Number   int           `json:"number"`
	Firmware int           `json:"firmware"`
	Voltage  report.Number `json:"voltage_v"`
	Finding  string        `json:"finding,omitempty"` // two servos with this id, a model nobody knows
}

func (FoundServo) Header() []string {
	return []string{"id", "model", "number", "firmware", "protocol", "baud", "volts", "finding"}
}

func (f FoundServo) Cells() []string {
	return []string{strconv.Itoa(f.ID), f.Model, strconv.Itoa(f.Number), strconv.Itoa(f.Firmware),
		cmp.Or(f.Type, strconv.Itoa(f.Protocol)), strconv.Itoa(f.Baud), f.Voltage.String(), f.Finding}
}

// describe fills in what a servo that answered a ping says of itself; why is what was wrong with the answer. Reading
// what differs between two servos finds twins out.
func (f *FoundServo) describe(c *dynamixel.Client, found *dynamixel.Found, why error) {
	f.Number, f.Firmware, f.Voltage = int(found.Number), int(found.Firmware), report.Number(math.NaN())
	m := found.Model(f.Protocol)
	switch {
	case why != nil:
		f.Finding = CollisionText
		return
	case m == nil:
		f.Finding = unknownText
		return
	}
	f.Model, f.Type = m.Name, fmt.Sprintf("dynamixel%d", m.Protocol)
	err := Insist(func() error {
		raw, err := c.ReadRegister(found.ID, m, "present_voltage")
		if err == nil {
			f.Voltage = report.Number(m.Register("present_voltage").SI(raw))
			// Equal servos answer a ping with equal bytes, which lie over each other unseen; their positions differ.
			_, err = c.ReadRegister(found.ID, m, "present_position")
		}
		return err
	})
	switch hal.KindOf(err) {
	case hal.Timeout:
		f.Finding = "it answers pings but no reads: its status return level is 0"
	case hal.BusFault:
		f.Finding = CollisionText
	}
}

// summary is "ids 1-6: xm430-w350 x6", or "nothing".
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
		if name == "" {
			name = "unknown"
		}
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

func Decimals(numbers []int) []string {
	list := make([]string, len(numbers))
	for i, n := range numbers {
		list[i] = strconv.Itoa(n)
	}
	return list
}
