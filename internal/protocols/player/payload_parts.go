package player

type actuatorState struct {
	Position, Speed, Acceleration, Current float64
	State                                  uint8
}

func (p *actuatorState) update(c *coder) {
	c.float(&p.Position, &p.Speed, &p.Acceleration, &p.Current)
	words(c, &p.State)
}

type actArrayData struct {
	Actuators []actuatorState
	Motors    uint8
}

func (p *actArrayData) update(c *coder) {
	array(c, &p.Actuators, 20, (*actuatorState).update)
	words(c, &p.Motors)
}

type actuatorGeometry struct {
	Kind                          uint8 // 1 linear, 2 rotary
	Length                        float64
	Orientation, Axis             vector
	Min, Centre, Max, Home, Speed float64
	Brakes                        uint8
}

func (p *actuatorGeometry) update(c *coder) {
	words(c, &p.Kind)
	c.float(&p.Length)
	c.parts(&p.Orientation, &p.Axis)
	c.float(&p.Min, &p.Centre, &p.Max, &p.Home, &p.Speed)
	words(c, &p.Brakes)
}

type actArrayGeometry struct {
	Actuators []actuatorGeometry
	Base      pose3
}

func (p *actArrayGeometry) update(c *coder) {
	array(c, &p.Actuators, 80, (*actuatorGeometry).update)
	p.Base.update(c)
}

// jointValue is a joint, -1 where all are meant, and a goal, speed or acceleration.
type jointValue struct {
	Joint int32
	Value float64
}

func (p *jointValue) update(c *coder) {
	words(c, &p.Joint)
	c.float(&p.Value)
}

type jointNumber struct{ Joint int32 }

func (p *jointNumber) update(c *coder) { words(c, &p.Joint) }

type limbData struct {
	Position, Approach, Orientation vector
	State                           uint8
}

func (p *limbData) update(c *coder) {
	c.parts(&p.Position, &p.Approach, &p.Orientation)
	words(c, &p.State)
}

type limbPose struct{ Position, Approach, Orientation vector }

func (p *limbPose) update(c *coder) { c.parts(&p.Position, &p.Approach, &p.Orientation) }

type gripperData struct {
	State  uint8
	Beams  uint32
	Stored uint8
}

func (p *gripperData) update(c *coder) {
	words(c, &p.State)
	words(c, &p.Beams)
	words(c, &p.Stored)
}

type gripperGeometry struct {
	Pose            pose3
	Outer, Inner    vector
	Beams, Capacity uint8
}

func (p *gripperGeometry) update(c *coder) {
	c.parts(&p.Pose, &p.Outer, &p.Inner)
	words(c, &p.Beams, &p.Capacity)
}

type powerData struct {
	Valid                         uint32 // 1 volts, 2 watts, 4 joules, 8 percent, 16 charging
	Volts, Percent, Joules, Watts float64
	Charging                      int32
}

func (p *powerData) update(c *coder) {
	words(c, &p.Valid)
	c.float(&p.Volts, &p.Percent, &p.Joules, &p.Watts)
	words(c, &p.Charging)
}

// ptzCommand is angles, rad, the field of view, rad, and speeds, rad/s; ptzData adds a status.
type ptzCommand struct{ Pan, Tilt, Zoom, PanSpeed, TiltSpeed float64 }

func (p *ptzCommand) update(c *coder) { c.float(&p.Pan, &p.Tilt, &p.Zoom, &p.PanSpeed, &p.TiltSpeed) }

type ptzData struct {
	ptzCommand
	Status uint32
}

func (p *ptzData) update(c *coder) {
	p.ptzCommand.update(c)
	words(c, &p.Status)
}

type cameraData struct {
	Width, Height, BitsPerPixel, Format, Divisor, Compression uint32
	Image                                                     []byte
}

func (p *cameraData) update(c *coder) {
	words(c, &p.Width, &p.Height, &p.BitsPerPixel, &p.Format, &p.Divisor, &p.Compression)
	c.bytes(&p.Image)
}

type dioData struct{ Count, Bits uint32 }

func (p *dioData) update(c *coder) { words(c, &p.Count, &p.Bits) }

// imuCalibrated is accelerations, m/s², turn rates, rad/s, and the magnetic field, NaN where they are not measured.
type imuCalibrated struct{ Acceleration, Gyro, Magnetic [3]float64 }

func (p *imuCalibrated) update(c *coder) {
	for _, row := range []*[3]float64{&p.Acceleration, &p.Gyro, &p.Magnetic} {
		for i := range row {
			c.float(&row[i])
		}
	}
}

type imuQuaternion struct {
	imuCalibrated
	Q [4]float64
}

func (p *imuQuaternion) update(c *coder) {
	p.imuCalibrated.update(c)
	c.float(&p.Q[0], &p.Q[1], &p.Q[2], &p.Q[3])
}

type imuEuler struct {
	imuCalibrated
	Orientation vector
}

func (p *imuEuler) update(c *coder) { c.parts(&p.imuCalibrated, &p.Orientation) }

type imuFull struct{ Pose, Velocity, Acceleration pose3 }

func (p *imuFull) update(c *coder) { c.parts(&p.Pose, &p.Velocity, &p.Acceleration) }

type rfidTag struct {
	Kind uint32
	GUID []byte
}

func (p *rfidTag) update(c *coder) {
	words(c, &p.Kind)
	c.bytes(&p.GUID)
}

type rfidData struct{ Tags []rfidTag }

func (p *rfidData) update(c *coder) { array(c, &p.Tags, 12, (*rfidTag).update) }

type fiducial struct {
	ID                int32
	Pose, Uncertainty pose3
}

func (p *fiducial) update(c *coder) {
	words(c, &p.ID)
	c.parts(&p.Pose, &p.Uncertainty)
}

type fiducialData struct{ Fiducials []fiducial }

func (p *fiducialData) update(c *coder) { array(c, &p.Fiducials, 100, (*fiducial).update) }

type fiducialGeometry struct {
	geometry
	Width, Length float64 // of a fiducial
}

func (p *fiducialGeometry) update(c *coder) {
	p.geometry.update(c)
	c.double(&p.Width, &p.Length)
}

type fiducialView struct{ MinRange, MaxRange, Angle float64 }

func (p *fiducialView) update(c *coder) { c.float(&p.MinRange, &p.MaxRange, &p.Angle) }
