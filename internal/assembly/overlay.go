package assembly

import (
	"fmt"
	"math"
	"slices"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/sim"
)

// overlaid is a body whose real range sensors measure simulated things too: of each ray the nearer of the two. A
// channel of each sensor, NAME/overlay, counts the rays that are simulated.
type overlaid struct {
	hal.Body
	layout  *hal.Layout
	twin    *sim.Body
	frame   *hal.Frame // the twin's
	view    hal.Frame  // the outer frame as the body sees it
	own     int        // measured channels of the body
	sensors []overlaidSensor
}

type overlaidSensor struct {
	sensor, twin int       // of the layouts
	count        int       // the measured channel of the count
	real         []float64 // as measured
}

// overlay lets the sensors of agent p whose overlay is scene measure what is simulated around twin.
func overlay(p *plan.AgentPlan, body hal.Body, twin *sim.Body) (hal.Body, error) {
	l, s := body.Layout(), twin.Layout()
	o := &overlaid{Body: body, twin: twin, frame: hal.NewFrame(s), own: len(l.Outputs) + len(l.Infos)}
	whole := *l
	whole.Infos = slices.Clone(l.Infos)
	for i := range l.Sensors {
		name, kind := l.Sensors[i].Name, l.Sensors[i].Kind
		if p.Config.Devices().Sensors[name].Overlay != "scene" {
			continue
		}
		at := slices.IndexFunc(s.Sensors, func(x hal.Sensor) bool { return x.Name == name })
		if at < 0 || kind != "range" && kind != "sonar" || s.Sensors[at].Count != l.Sensors[i].Count {
			return nil, &hal.Error{Kind: hal.Invalid, Op: "overlay " + name,
				Err: fmt.Errorf("got a sensor of kind %s, want a range scanner or sonar of the robot's model", kind)}
		}
		n := l.Sensors[i].Count
		o.sensors = append(o.sensors, overlaidSensor{i, at, o.own + len(o.sensors), make([]float64, n)})
		whole.Infos = append(whole.Infos, hal.Channel{Name: name + "/overlay", Quantity: hal.Ratio, Min: 0,
			Max: float64(n), Estimate: true})
	}
	if len(o.sensors) == 0 {
		return body, nil
	}
	for i := range o.sensors {
		hal.FillNaN(o.sensors[i].real)
	}
	o.layout = &whole
	return o, nil
}

func (o *overlaid) Layout() *hal.Layout { return o.layout }

// Unwrap returns the body without simulated things.
func (o *overlaid) Unwrap() hal.Body { return o.Body }

// wrapped returns body, or the body that it wraps, that is a T.
func wrapped[T any](body hal.Body) (found T, ok bool) {
	for {
		if found, ok = body.(T); ok {
			return found, true
		}
		w, wraps := body.(interface{ Unwrap() hal.Body })
		if !wraps {
			return found, false
		}
		body = w.Unwrap()
	}
}

func (o *overlaid) Holding(actuator int) bool {
	h, ok := o.Body.(hal.TorqueReporter)
	return ok && h.Holding(actuator)
}

// Read reads the body, then lays the scene over its sensors. A sensor that is lost has its fault and no new values.
func (o *overlaid) Read(f *hal.Frame) error {
	o.view = *f
	o.view.Measured = f.Measured[:o.own]
	o.view.Infos = f.Infos[:o.own-len(f.Outputs)]
	l := o.Body.Layout()
	for i := range o.sensors { // a value that a device did not send stays: that of the device, not the laid over one
		s := &o.sensors[i]
		copy(f.Measured[l.Sensors[s.sensor].First:], s.real)
	}
	err := o.Body.Read(&o.view)
	o.frame.Time = f.Time
	if e := o.twin.Read(o.frame); err == nil {
		err = e
	}
	for i := range o.sensors {
		s := &o.sensors[i]
		first, status := l.Sensors[s.sensor].First, &f.Status[len(l.Actuators)+s.sensor]
		values := f.Measured[first:][:len(s.real)]
		copy(s.real, values)
		count := 0
		for k, v := range o.frame.Measured[o.twin.Layout().Sensors[s.twin].First:][:len(values)] {
			far := values[k]
			if math.IsNaN(far) { // no echo
				far = l.Measured(first + k).Max
			}
			if status.Err == nil && status.Time >= 0 && v < far {
				values[k] = v
				count++
			}
		}
		f.Measured[s.count] = float64(count)
	}
	return err
}
