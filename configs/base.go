package configs

// BasePart is what parts call a robot's base.
const BasePart = "base"

// Base is a wheeled base with a controller of its own at the end of a serial line.
type Base struct {
	Bus          string  `yaml:"bus" required:"true" doc:"The line it is at the end of, one of buses, of type serial."`
	Device       string  `yaml:"device" required:"true" form:"kind" doc:"What it speaks: p2os, which is ARCOS too."`
	Robot        string  `yaml:"robot" required:"true" form:"robot" doc:"What robot it is, as it says itself: p2at, p2at8+, p2dx, p3at, p3dx, p3dx-sh and kin. It makes metres of its counts; another robot than this is refused."`
	Sonar        bool    `yaml:"sonar" default:"true" doc:"Its sonars are the robot's, each for the one that looks its way."`
	Bumpers      bool    `yaml:"bumpers" default:"true" doc:"It has rings of bumpers: their segments are the robot's contact sensors that look their way."`
	Gyro         bool    `yaml:"gyro" default:"false" doc:"It has the analog gyro, which is the robot's gyro of one axis."`
	TurnCenter   float64 `yaml:"turn_center" default:"0" min:"-1" max:"1" doc:"How far ahead of the robot's middle the point is that it turns about on the spot, m. A base that steers by skidding turns about where its weight is: in half a turn its middle comes ahead by twice as much. STA's place is reckoned with it."`
	Acceleration float64 `yaml:"acceleration" default:"1" min:"0.05" max:"10" doc:"Of speeding up and of slowing down, m/s²: with it the base stops, too, when its watchdog has heard nothing for two seconds."`
}

// Scanner is what a laser scanner is told beyond what every sensor is. The robot's sensor becomes what the scanner is, on
// every body.
type Scanner struct {
	Model      string   `yaml:"model" form:"kind" doc:"Of a hokuyo: urg-04lx, urg-04lx-ug01, ubg-04lx-f01, utm-30lx, ust-10lx or ust-20lx."`
	FOV        *float64 `yaml:"fov" min:"1" max:"360" otherwise:"all it has" doc:"Of a scanner: how wide it looks, degrees; of a sick 180 or 100. The robot's sensor becomes what the scanner is, simulated too."`
	Resolution *float64 `yaml:"resolution" min:"0.1" max:"45" otherwise:"1 of a sick and an rplidar, its own of a hokuyo" doc:"Of a scanner: from ray to ray, degrees: of a sick 1, 0.5 or, at 100 degrees, 0.25; of a hokuyo a multiple of its own."`
	RangeMax   *float64 `yaml:"range_max" min:"1" max:"80" otherwise:"8 of a sick, 12 of an rplidar" doc:"Of a sick: 8, 16 or 32 m in millimetres, or 80 in centimetres. Of an rplidar what its data sheet says."`
	Motor      string   `yaml:"motor" default:"dtr" enum:"dtr|pwm|free" doc:"Of an rplidar: what turns it. dtr: the modem line of its adapter (A1). pwm: its own command (A2, A3). free: it always turns."`
	Standard   bool     `yaml:"standard" default:"false" doc:"Of an rplidar: its firmware knows the standard scan alone."`
}
