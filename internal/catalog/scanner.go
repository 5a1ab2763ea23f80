package catalog

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers"
	"github.com/halyard-robotics/halyard/drivers/lidar"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/sim"
	"github.com/halyard-robotics/halyard/sim/emulator/laser"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
	"github.com/halyard-robotics/halyard/sim/model"
)

// scanner is a laser scanner with its settings. On every body the robot's sensor gets its field of view, rays and
// range.
type scanner struct {
	rays  int     // of the robot's sensor
	Step  float64 // rad, between rays; the middle one points ahead
	Reach float64 // m
	index []int   // of the device's ray that each of the robot's is; nil: they are the same
	boot  int     // baud that it has after power-on; 0 on a network
	open  func(name string, line servo.Opener) (scanning, error)
	Board func(laser.Scene) wire.Board
}

// scanning is the driver of a scanner.
type scanning interface {
	drivers.Sensor
	Geometry() lidar.ScanGeometry
}

// misfit is a setting that a scanner cannot have.
type misfit struct{ Key, Got, Rule, Fix string }

// scannerKinds make a scanner of its settings, by the config's word for the device.
func scannerKinds() map[string]func(c *configs.Sensor, bus *configs.Bus) (*scanner, *misfit) {
	sick := func(kind string) func(c *configs.Sensor, bus *configs.Bus) (*scanner, *misfit) {
		return func(c *configs.Sensor, bus *configs.Bus) (*scanner, *misfit) { return newSICK(kind, c, bus) }
	}
	return map[string]func(c *configs.Sensor, bus *configs.Bus) (*scanner, *misfit){
		"sick-lms200": sick("LMS200;30106;V02.30"), "sick-lms291": sick("LMS291;S05;V02.30"), "hokuyo": newHokuyo,
		"rplidar": newRPLidar,
	}
}

const Degree = math.Pi / 180

func newSICK(kind string, c *configs.Sensor, bus *configs.Bus) (*scanner, *misfit) {
	s := lidar.SICKSettings{Angle: int(configs.Or(c.FOV, 180)),
		Resolution: int(math.Round(100 * configs.Or(c.Resolution, 1))), Baud: bus.Baud}
	if bus.GivenBaud == nil { // its own usual rate, not that of serial lines
		s.Baud = 38400
	}
	reach := configs.Or(c.RangeMax, 8)
	if s.Reach = reach; reach == 80 {
		s.Reach, s.Centimetres = 8, true
	}
	switch {
	case !slices.Contains([]int{9600, 19200, 38400, 500000}, s.Baud):
		return nil, &misfit{"bus", fmt.Sprintf("a bus of %d baud", s.Baud),
			"9600, 19200, 38400 or, with RS-422, 500000 baud", ""}
	case float64(s.Angle) != configs.Or(c.FOV, 180) || s.Angle != 180 && s.Angle != 100:
		return nil, &misfit{"fov", fmt.Sprint(*c.FOV), "180 or 100", ""}
	case s.Resolution != 100 && s.Resolution != 50 && (s.Resolution != 25 || s.Angle != 100):
		return nil, &misfit{"resolution", fmt.Sprint(*c.Resolution), "1 or 0.5, or 0.25 with fov: 100", ""}
	case reach != 8 && reach != 16 && reach != 32 && reach != 80:
		return nil, &misfit{"range_max", fmt.Sprint(*c.RangeMax), "8, 16 or 32, or 80 in centimetres", ""}
	}
	k := &scanner{rays: 100*s.Angle/s.Resolution + 1, Step: float64(s.Resolution) / 100 * Degree, Reach: reach,
		boot: 9600}
	k.open = func(name string, line servo.Opener) (scanning, error) {
		s.Name, s.Line = name, line
		return lidar.NewSICK(s)
	}
	k.Board = func(scene laser.Scene) wire.Board { return laser.NewSICK(kind, scene) }
	return k, nil
}

func newHokuyo(c *configs.Sensor, bus *configs.Bus) (*scanner, *misfit) {
	models := map[string]lidar.HokuyoModel{}
	for _, m := range lidar.HokuyoModels() {
		models[strings.ToLower(m.Name)] = m
	}
	m, ok := models[c.Model]
	if !ok {
		rule, fix := Known(models, c.Model)
		return nil, &misfit{"model", c.Model, rule, fix}
	}
	own := 2 * math.Pi / float64(m.Turn)
	cluster := int(math.Round(configs.Or(c.Resolution, own/Degree) * Degree / own))
	if cluster < 1 || cluster > 99 ||
		math.Abs(float64(cluster)*own-configs.Or(c.Resolution, float64(cluster)*own/Degree)*Degree) > 0.01*own {
		return nil, &misfit{"resolution", fmt.Sprint(*c.Resolution),
			fmt.Sprintf("a multiple of its own, %.6g degrees", own/Degree), ""}
	}
	// Symmetrical, so that the middle ray points ahead; for an even cluster it is half a step off.
	side := (min(m.Front-m.First, m.Last-m.Front) - cluster/2) / cluster
	if c.FOV != nil {
		want := int(*c.FOV*Degree/own+1e-6) / 2 / cluster
		if want > side || want < 1 {
			return nil, &misfit{"fov", fmt.Sprint(*c.FOV), fmt.Sprintf("%.4g..%.4g", 2*float64(cluster)*own/Degree,
				2*float64(side*cluster)*own/Degree), ""}
		}
		side = want
	}
	s := lidar.HokuyoSettings{Model: m, Baud: bus.Baud, Cluster: cluster, First: m.Front - side*cluster - (cluster-1)/2}
	s.Last = s.First + (2*side+1)*cluster - 1
	if !slices.Contains(lidar.SCIPBauds(), s.Baud) {
		return nil, &misfit{"bus", fmt.Sprintf("a bus of %d baud", s.Baud), fmt.Sprintf("one of %v", lidar.SCIPBauds()),
			""}
	}
	k := &scanner{rays: 2*side + 1, Step: float64(cluster) * own, Reach: float64(m.MaxRange) / 1000, boot: 19200}
	if Networked(bus) {
		k.boot = 0
	}
	k.open = func(name string, line servo.Opener) (scanning, error) {
		s.Name, s.Line = name, line
		return lidar.NewHokuyo(s)
	}
	k.Board = func(scene laser.Scene) wire.Board { return laser.NewHokuyo(m, k.boot, scene) }
	return k, nil
}

// rplidarReach is that of an A1 and an A2, m.
const rplidarReach = 12

func newRPLidar(c *configs.Sensor, bus *configs.Bus) (*scanner, *misfit) {
	n := int(math.Round(360 / configs.Or(c.Resolution, 1)))
	if n < 8 || n > 3600 || c.Resolution != nil && math.Abs(360/float64(n)-*c.Resolution) > 1e-3 {
		return nil, &misfit{"resolution", fmt.Sprint(*c.Resolution), "a whole part of 360, 0.1..45", ""}
	}
	s := lidar.RPLidarSettings{Rays: n, Encoding: map[string]lidar.RPLidarEncoding{"ultra": lidar.RPLidarUltra,
		"dense": lidar.RPLidarDense, "ultra-dense": lidar.RPLidarUltraDense}[c.Scan],
		Drive: map[string]lidar.RPLidarDrive{"dtr": lidar.RPLidarDTR, "pwm": lidar.RPLidarPWM,
			"free": lidar.RPLidarFree}[c.Motor]}
	if c.Standard {
		s.Encoding = lidar.RPLidarNodes
	}
	k := &scanner{Step: 2 * math.Pi / float64(n), Reach: configs.Or(c.RangeMax, rplidarReach), boot: WireBaud(bus)}
	// It scans all around, backward first. The robot's sensor has as many rays to the right as to the left; if it also
	// scans all around, it has the backward ray twice.
	side := n / 2
	if c.FOV != nil {
		side = min(side, int(*c.FOV*Degree/2/k.Step+1e-6))
	}
	k.rays = 2*side + 1
	for i := -side; i <= side; i++ {
		turn := float64(i)*k.Step + math.Pi
		k.index = append(k.index, int(math.Round(turn/k.Step))%n)
	}
	k.open = func(name string, line servo.Opener) (scanning, error) {
		s.Name, s.Line = name, line
		return lidar.NewRPLidar(s)
	}
	made := *bus
	k.Board = func(scene laser.Scene) wire.Board {
		r := laser.NewRPLidar(s.Drive, k.boot, scene)
		r.Take(made.Firmware, made.Quirks)
		return r
	}
	return k, nil
}

// Fit sets the sensor of m called name to the scanner's geometry.
func (s *scanner) Fit(m *model.Robot, name string) {
	k := slices.IndexFunc(m.Sensors, func(x model.Sensor) bool {
		return x.Name == name && x.Kind == "range" && x.Device != nil
	})
	if k < 0 {
		return
	}
	own := *m.Sensors[k].Device
	own.FOV, own.Resolution, own.Range = float64(s.rays-1)*s.Step, s.Step, s.Reach
	m.Sensors = slices.Clone(m.Sensors)
	m.Sensors[k].Device = &own
}

// scannerSensor is a scanner as the robot's sensor: its rays in their order, with the maximum range for rays without an
// echo.
type scannerSensor struct {
	scanning
	of  *scanner
	raw []float64
}

// Note and Patience are the scanner's.
func (f *scannerSensor) Note() string { return drivers.NoteOf(f.scanning) }

func (f *scannerSensor) Patience() time.Duration {
	if p, ok := f.scanning.(drivers.Patient); ok {
		return p.Patience()
	}
	return 0
}

// Restart forgets the turn under way.
func (f *scannerSensor) Restart() {
	if r, ok := f.scanning.(interface{ Restart() }); ok {
		r.Restart()
	}
}

func newFanned(s *scanner, of scanning) *scannerSensor {
	return &scannerSensor{scanning: of, of: s, raw: make([]float64, of.Geometry().Count)}
}

// Read reads one scan. Rays that were not measured are NaN.
func (f *scannerSensor) Read(values []float64) error {
	if err := f.scanning.Read(f.raw); err != nil {
		return err
	}
	for i := range values[:min(len(values), f.of.rays)] {
		k := i
		if f.of.index != nil {
			k = f.of.index[i]
		}
		values[i] = f.raw[k]
		if values[i] > f.of.Reach {
			values[i] = f.of.Reach
		}
	}
	return nil
}

// Outlook is the view of an emulated scanner from its mount on a simulated robot.
type Outlook struct {
	Body   *sim.Body
	Sensor int
}

func (o Outlook) Scan(first, step float64, ranges []float64) {
	if o.Body.CastRays(o.Sensor, first, step, ranges) != nil {
		for i := range ranges {
			ranges[i] = math.NaN()
		}
	}
}

// SensorIndex is the sensor of l called name, or hal.None.
func SensorIndex(l *hal.Layout, name string) int {
	return slices.IndexFunc(l.Sensors, func(s hal.Sensor) bool { return s.Name == name })
}

// Networked reports whether a bus of type serial is a connection.
func Networked(bus *configs.Bus) bool { return strings.HasPrefix(bus.Port, TCPPrefix) }

// WireBaud is the rate of a bus of type serial, 0 of a connection.
func WireBaud(bus *configs.Bus) int {
	if Networked(bus) {
		return 0
	}
	return bus.Baud
}

const TCPPrefix = "tcp://"

// Seen describes a scan in a few words.
func (s *scanner) Seen(device string, values []float64) string {
	nearest, rays := math.Inf(1), 0
	for _, v := range values {
		if !math.IsNaN(v) {
			nearest, rays = math.Min(nearest, v), rays+1
		}
	}
	return fmt.Sprintf("%s sees with %d of its %d rays, the nearest thing at %.2f m", device, rays, len(values),
		nearest)
}
