package configs

// BasePart is the name of a robot's base in parts.
const BasePart = "base"

// Base is a wheeled base with a controller of its own at the end of a serial line.
type Base struct {
	Bus          string  `yaml:"bus" required:"true" doc:"The bus of the base, one of buses, of type serial."`
	Device       string  `yaml:"device" required:"true" form:"kind" doc:"Protocol: p2os, also for ARCOS."`
	Robot        string  `yaml:"robot" required:"true" form:"robot" doc:"Robot type, as the firmware reports it: p2at, p2at8+, p2dx, p3at, p3dx, p3dx-sh and others. Selects the scale factors; a different robot is refused."`
	Sonar        bool    `yaml:"sonar" default:"true" doc:"Provide the robot's sonars, each by the transducer that points the same way."`
	Bumpers      bool    `yaml:"bumpers" default:"true" doc:"The base has bumper rings: their segments provide the robot's contact sensors."`
	Gyro         bool    `yaml:"gyro" default:"false" doc:"The base has the analog gyro: it provides the robot's single-axis gyro."`
	TurnCenter   float64 `yaml:"turn_center" default:"0" min:"-1" max:"1" doc:"Distance from the robot's centre forward to the point it turns about, m. A skid-steered base turns about its centre of mass. Used for the position in STA."`
	Odometry     Reckon  `yaml:"odometry" otherwise:"none" doc:"Correction of the dead reckoning, as halyard calibrate --wheels finds it."`
	Acceleration float64 `yaml:"acceleration" default:"1" min:"0.05" max:"10" doc:"Acceleration and deceleration, m/s², also when its watchdog stops the base after two seconds without a command."`
}

// Reckon corrects the dead reckoning of a base.
type Reckon struct {
	Distance float64 `yaml:"distance" default:"1" min:"0.5" max:"2" doc:"True metres per metre of odometry."`
	Turn     float64 `yaml:"turn" default:"1" min:"0.5" max:"2" doc:"True radians per radian of odometry."`
	Curve    float64 `yaml:"curve" default:"0" min:"-1" max:"1" doc:"Turn to the left that odometry does not see, rad/m."`
}

// Scanner is the settings of a laser scanner in addition to those of every sensor. They define the robot's sensor on
// every body.
type Scanner struct {
	Model      string   `yaml:"model" form:"kind" doc:"hokuyo: urg-04lx, urg-04lx-ug01, ubg-04lx-f01, utm-30lx, ust-10lx or ust-20lx."`
	FOV        *float64 `yaml:"fov" min:"1" max:"360" otherwise:"all it has" doc:"Scanner: field of view, degrees; sick: 180 or 100. The robot's sensor takes it over, also when simulated."`
	Resolution *float64 `yaml:"resolution" min:"0.1" max:"45" otherwise:"1 of a sick and an rplidar, its own of a hokuyo" doc:"Scanner: angle between rays, degrees. sick: 1, 0.5 or, at 100 degrees, 0.25; hokuyo: a multiple of its own."`
	RangeMax   *float64 `yaml:"range_max" min:"1" max:"80" otherwise:"8 of a sick, 12 of an rplidar" doc:"Maximum range, m. sick: 8, 16 or 32 (millimetre resolution), 80 (centimetre resolution). rplidar: see its data sheet."`
	Motor      string   `yaml:"motor" default:"dtr" enum:"dtr|pwm|free" doc:"rplidar: motor control. dtr: the DTR line of the adapter (A1). pwm: the PWM command (A2, A3). free: the motor always runs."`
	Standard   bool     `yaml:"standard" default:"false" doc:"rplidar: use only the standard scan."`
	Scan       string   `yaml:"scan" default:"express" enum:"express|ultra|dense|ultra-dense" doc:"rplidar: encoding of the scan. express: every model; ultra: A2, A3 and late A1; dense: S models; ultra-dense: S2, S3 and C1, where they report it. Asked for in the mode in which the scanner reports it."`
}
