package rigtest

import (
	"testing"

	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/commission"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/emulator"
)

func SurveyOf(line servo.Line) *commission.Survey {
	f := commission.Finder{Line: line, Port: "PORT", Buses: catalog.BuiltinBuses(), Bauds: catalog.UsualBauds(),
		Types: []string{"dynamixel2", "dynamixel1"}}
	return &commission.Survey{BareLine: &commission.BareLine{Finder: f}, Note: func(string, ...any) {}}
}

// BrandBus is a bus in memory with servos of a model at ids.
func BrandBus(t *testing.T, kind, model string, baud int, ids ...int) *emulator.Bus {
	t.Helper()
	spec, _ := actuator.Lookup(model)
	var servos []*emulator.Servo
	for _, id := range ids {
		servos = append(servos, catalog.BuiltinBuses().Of(kind).Emulate(catalog.BuiltinBuses().Of(kind).Lookup(model),
			id, actuator.NewServo(spec), emulator.GroundTruth{}))
	}
	return emulator.NewBus(emulator.BusConfig{Name: "test", Baud: baud}, servos...)
}

// Watched is a line that tells of every write before it is made.
type Watched struct {
	servo.Line
	Before func(p []byte)
}

func (w *Watched) Write(p []byte) (int, error) {
	w.Before(p)
	return w.Line.Write(p)
}
