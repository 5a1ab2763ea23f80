package shell

import (
	"fmt"
	"io"

	"github.com/halyard-robotics/halyard/protocols/moast"
	"github.com/halyard-robotics/halyard/protocols/nml"
)

// Print prints a map in rows, a scan and points as columns, and other messages by their fields.
func Print(w io.Writer, m nml.Message) error {
	switch m := m.(type) {
	case *moast.SensorData2D:
		for i, v := range m.Features {
			end := " "
			if m.X > 0 && (i+1)%int(m.X) == 0 {
				end = "\n"
			}
			fmt.Fprintf(w, "%g%s", v, end)
		}
		return nil
	case *moast.SensorData1D:
		for i, v := range m.Features {
			fmt.Fprintf(w, "%g %g\n", m.Start+float64(i)*m.Increment, v)
		}
		return nil
	case *moast.SensorDataList:
		for _, p := range m.Points {
			fmt.Fprintf(w, "%g %g %g %g\n", p.Sensor.X, p.Sensor.Y, p.Hit.X, p.Hit.Y)
		}
		return nil
	}
	_, err := fmt.Fprintf(w, "%s %+v\n", moast.Symbol(m.MessageType()), m)
	return err
}
