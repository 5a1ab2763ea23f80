package configs

import (
	"path/filepath"
	"time"

	"github.com/halyard-robotics/halyard/internal/policyconf"
	"github.com/halyard-robotics/halyard/internal/teleopconf"
	"github.com/halyard-robotics/halyard/internal/yaml"
)

// Config is one rig. Load returns it complete: all defaults are filled in, and all rules that need only the file have
// been checked. It does not change afterwards; any goroutine may read it.
//
// The tags of the fields are the only source of a key, its default, its rule and its meaning:
//
//	yaml       the key
//	doc        its meaning, with its unit; docs/config.md is generated from it
//	default    its value if the file does not set it, as YAML
//	otherwise  in words, a default that depends on other keys; complete computes it
//	required   the key must be set
//	enum       the words allowed, separated by |
//	min, max   the range allowed, ends included
//	form       a pattern of forms (rules.go)
//	file       path: the path of a file, which an Archive takes; name: or a name of what is built in
type Config struct {
	Name     string                       `yaml:"name" required:"true" form:"name" doc:"Name of the rig, used for its control socket and logs."`
	Clock    Clock                        `yaml:"clock" doc:"Timing of the cycle."`
	World    World                        `yaml:"world" doc:"The simulated world."`
	Buses    map[string]Bus               `yaml:"buses" form:"name" doc:"Serial lines, CAN and I2C buses, SPI ports and GPIO chips, by name. Agents can share a bus."`
	Agents   []Agent                      `yaml:"agents" doc:"The robots."`
	Servers  []Server                     `yaml:"servers" doc:"Protocol servers that controllers connect to."`
	Policies map[string]policyconf.Policy `yaml:"policies" form:"name" doc:"Learned policies, by name (docs/policy.md)."`
	Teleop   []teleopconf.Pair            `yaml:"teleop" doc:"Leaders and their followers (docs/teleop.md)."`
	Record   Record                       `yaml:"record" doc:"A recording of every cycle from the first on (docs/record.md)."`
	Classes  map[string]Robot             `yaml:"classes" form:"class" doc:"Robots that a client can spawn (USARSim INIT), by class name."`

	Source string `yaml:"-"` // the file's path as given, or the name of the embedded config
	Dir    string `yaml:"-"` // the folder of the file; empty for an embedded config
	Notes  Faults `yaml:"-"` // warnings about allowed values; never an error

	// the position of each key, for faults found later; nil if the config was not read from a file
	document *yaml.Document

	data    []byte // the document that it was read from, and the caller's changes
	options Options
}

// Resolve returns a path of the config for the operating system: relative paths start at the config's folder.
func (c *Config) Resolve(path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(c.Dir, path)
}

// ClockMode selects what advances time.
type ClockMode string

// The clock modes.
const (
	Lockstep ClockMode = "lockstep"
	Realtime ClockMode = "realtime"
)

// Clock is the timing of the cycle. An explicit lockstep with a real body is a fault; the default mode depends on the
// bodies.
type Clock struct {
	Mode   ClockMode     `yaml:"mode" enum:"lockstep|realtime" otherwise:"realtime where anything is real or there is a teleop, else lockstep" doc:"lockstep: time advances when every controller has requested the step. realtime: time follows the wall clock."`
	Period time.Duration `yaml:"period" default:"10ms" min:"100us" max:"1s" doc:"Length of one cycle."`
	Timing string        `yaml:"timing" enum:"ideal|real" otherwise:"real in realtime where anything is emulated, else ideal" doc:"When simulated and emulated bodies measure. real: at the beginning of the cycle, after its commands were sent, as real lines do: a command answers a measurement one period later. ideal: at its end."`
}

// World is the simulated world.
type World struct {
	Scene        string         `yaml:"scene" file:"name" default:"flat" doc:"An embedded scene (flat, hurdles, hills, shaky, stairs, plates; pool and qualification are filled with water), or the path of a scene file."`
	Gravity      float64        `yaml:"gravity" default:"9.81" min:"-1000" max:"1000" doc:"Downward acceleration, m/s²."`
	Seed         int64          `yaml:"seed" default:"1" doc:"Random seed. The same seed gives the same run."`
	GivenSubstep *time.Duration `yaml:"substep" min:"10us" max:"100ms" otherwise:"the longest part of the period up to what the robots need, 1ms to 5ms (docs/physics.md); up to 10ms where all are Simloid's" doc:"Physics step. The period must be a multiple of it."`
	// Substep is GivenSubstep, or a value that suits the period if the config gives none.
	Substep time.Duration `yaml:"-"`
}

// Record is the recording of all states and commands of a rig.
type Record struct {
	File        string        `yaml:"file" otherwise:"none" doc:"Path of an MCAP file. A file of that name is kept: it gets the time of its last change in its name."`
	Ring        time.Duration `yaml:"ring" default:"0s" min:"0s" max:"24h" doc:"Above 0: keeps only the last span of so long, in two files, and saves both at every stop and fault. Such a recording can be viewed, but not replayed."`
	Pictures    bool          `yaml:"pictures" default:"false" doc:"Records the pictures of all cameras too, as JPEG, depth as 16 bit PNG. They are dropped where the disk is too slow."`
	PictureRate float64       `yaml:"picture_rate" default:"10" min:"0.1" max:"60" doc:"Most pictures a second of each camera."`
}

// Bus is one serial line, I2C bus, SPI port or GPIO chip. Type is an open set: a new vendor is added in the catalog,
// not here.
type Bus struct {
	Type      string `yaml:"type" required:"true" form:"kind" doc:"Protocol of the line. Servos: dynamixel1, dynamixel2, feetech, hiwonder, kondo. Motor controllers: vesc, odrive; odrive-can, cybergear on CAN. Others: i2c; spi (one chip); gpio; serial (one device: Maestro, BNO055, robot base, laser scanner or tag reader)."`
	Port      string `yaml:"port" form:"port" doc:"Device file; required by real devices only. Serial: the stable name under /dev/serial/by-id/, or tcp://HOST:PORT of a scanner. i2c: /dev/i2c-1. spi: /dev/spidev0.1 (bus 0, select 1). CAN: can0. gpio: /dev/gpiochip0, or the chip's label, pinctrl-rp1."`
	GivenBaud *int   `yaml:"baud" min:"1200" max:"4500000" otherwise:"1000000; 115200 of type serial" doc:"Baud rate of a serial line or CAN bus, bit/s. A base is also found at 9600 and 38400; a sick supports 500000, 38400 (default), 19200 and 9600."`
	// Baud is GivenBaud, or the usual rate of the type if the config has none.
	Baud           int  `yaml:"-"`
	GivenFrequency *int `yaml:"frequency" min:"10000" max:"10000000" otherwise:"400000; 1000000 of type spi" doc:"SPI clock, Hz. I2C clock of an emulated bus, at most 5000000; the device tree sets the clock of a real one."`
	// Frequency is GivenFrequency, or the usual one of the type if the config has none.
	Frequency     int            `yaml:"-"`
	SerialBackend string         `yaml:"serial_backend" default:"bugst" enum:"bugst|tarm" doc:"Library that opens the port. tarm supports up to 115200 Bd, without timing guarantees."`
	Latency       time.Duration  `yaml:"latency" default:"1ms" min:"1ms" max:"255ms" doc:"Latency timer to set in an FTDI adapter, whole milliseconds."`
	ReturnDelay   time.Duration  `yaml:"return_delay" default:"0s" min:"0s" max:"508us" doc:"Delay of each servo before its response, in steps of 2us. Emulated servos have it; the doctor expects it of real servos (halyard registers write PORT --id N return_delay=0)."`
	Supply        *Supply        `yaml:"supply" otherwise:"the robot's" doc:"Supply of the servos of this bus, where it is another than that of the robot's model."`
	Timing        Timing         `yaml:"timing" doc:"Timing of an emulated line."`
	EEPROM        map[string]int `yaml:"eeprom" form:"kind" doc:"As eeprom of a joint, for all servos of the bus that have the register."`
	Firmware      string         `yaml:"firmware" otherwise:"the usual one" doc:"Firmware of emulated devices, in quotes: \"0.5.2\" of an ODrive, 3.40 of a VESC, 45 of Dynamixels, 3.10 of Feetech servos, 1.15 of an RPLIDAR (type serial). A real device has its own."`
	Quirks        []string       `yaml:"quirks" doc:"What emulated devices do otherwise, as some versions and copies: no_broadcast_ping (dynamixel2, feetech), no_line_end (odrive); of an RPLIDAR dense, hq, spins_up."`
}

// AdapterLatency is the latency timer of the bus's adapter: that of its timing, or the one to set where it is not the
// default.
func (b *Bus) AdapterLatency() time.Duration {
	if b.Timing.LatencyTimer == 0 && b.Latency > time.Millisecond {
		return b.Latency
	}
	return b.Timing.LatencyTimer
}

// Supply is a power supply of servos; the voltage of all servos on it sags together.
type Supply struct {
	Volts float64 `yaml:"volts" required:"true" min:"1" max:"60" doc:"Voltage without load, V."`
	Ohms  float64 `yaml:"ohms" default:"0.05" min:"0" max:"100" doc:"Resistance of source, cables and connectors together, Ω."`
}

// Timing is the timing of an emulated line in addition to its baud rate. The default is an ideal adapter, so that a
// benchmark measures the bus. Only the servo delay was fitted to published cycle times.
type Timing struct {
	ServoDelay   time.Duration `yaml:"servo_delay" default:"58us" min:"0s" max:"100ms" doc:"Processing time of a servo, in addition to its return delay."`
	USBFrame     time.Duration `yaml:"usb_frame" default:"0s" min:"0s" max:"10ms" doc:"USB frame, each way: 1ms at full speed, 125us at high speed."`
	LatencyTimer time.Duration `yaml:"latency_timer" default:"0s" min:"0s" max:"255ms" doc:"Delay of short packets in the adapter. The factory default of FTDI adapters is 16ms."`
	Echo         bool          `yaml:"echo" default:"false" doc:"The adapter echoes transmitted bytes."`
}

// BodyKind selects physics, emulated devices or real ones. It is the only key to change to move a controller from
// simulation to motors.
type BodyKind string

// The kinds of body.
const (
	Sim      BodyKind = "sim"
	Emulated BodyKind = "emulated"
	Real     BodyKind = "real"
)

// Agent is one robot of the rig.
type Agent struct {
	Name  string `yaml:"name" required:"true" form:"name" doc:"Name of the robot, used by controllers, servers and --listen."`
	Pose  Pose   `yaml:"pose" doc:"Start pose in the world."`
	Robot `yaml:",inline"`
}

// Robot is a robot without its name and pose: its model, body and devices. A class for spawning is a Robot.
type Robot struct {
	Model         string              `yaml:"model" file:"name" required:"true" doc:"An embedded robot (simloid-31 is Simloid's robot 31), or the path of a robot file (YAML, URDF, MJCF or SDF), a vehicle file or an INI of USARSim."`
	Lenient       bool                `yaml:"lenient" default:"false" doc:"Model is an INI of USARSim: leave out sensors of unknown classes, with a warning, instead of refusing the robot."`
	Base          string              `yaml:"base" default:"file" enum:"file|fixed|floating" doc:"Of a robot file in XML (URDF, MJCF, SDF): whether its root moves freely. file: as the file says, which is fixed unless its first joint is floating."`
	Repair        bool                `yaml:"repair" default:"true" doc:"Of a robot file in XML: repair what no body can have (missing masses, impossible inertias, limits of 0), with a note for each. false: refuse it."`
	SelfCollision *bool               `yaml:"self_collision" doc:"Of a robot file in XML: its links collide with each other, but for those that touch in the built pose. Default: as the file has it, which is no unless <gazebo> has selfCollide."`
	Drive         *Drive              `yaml:"drive" doc:"The wheels that carry the robot. It then takes a twist (ROS: cmd_vel) and has odometry, on every body."`
	Body          BodyKind            `yaml:"body" default:"sim" enum:"sim|emulated|real" doc:"sim: physics. emulated: real drivers on emulated devices. real: the devices under hardware. There is no fallback from one to another."`
	Parts         map[string]BodyKind `yaml:"parts" enum:"sim|emulated|real" doc:"Joints, sensors, cameras and monitors whose body differs from the robot's, by name; base is the base."`
	Twin          string              `yaml:"twin" default:"solid" enum:"solid|ghost|none" doc:"What a robot with real parts is to the simulated world. solid: it pushes and is not pushed. ghost: lasers and cameras see it, and nothing touches it. none: lasers do not see it either."`
	PoseFrom      string              `yaml:"pose_from" default:"odometry" form:"name" doc:"Where the pose of a real robot in the scene is from: odometry (of a real base), the name of a sensor of kind pose, or client: who sets /AGENT/ROOT/Position and Orientation, such as motion capture."`
	OnLoss        map[string]string   `yaml:"on_loss" enum:"stop|hold|torque_off|sim" otherwise:"its joint waits, and the others go on" doc:"What becomes of the robot while a joint, a sensor, base or all (of these) that is not simulated is lost for 0.1 s. stop: the emergency stop. hold: it holds still until an operator arms. torque_off: all its torque goes off. sim, of joints: a simulated joint takes the place, marked as a fault, until it is disarmed and the real one is back."`
	Couple        map[string]couple   `yaml:"couple" form:"name" otherwise:"none" doc:"Real joints that feel the simulated load of their twins while they are commanded in torque mode, by name: of servos with a torque mode alone."`
	Shadow        bool                `yaml:"shadow" default:"false" doc:"Also simulate a real or emulated body with the same commands, and publish the difference as JOINT/shadow_error."`
	Gains         bool                `yaml:"gains" default:"false" doc:"Adds the inputs JOINT/kp (N·m/rad), JOINT/ki (N·m/(rad·s)) and JOINT/kd (N·m·s/rad) of joints whose position control takes them at run time, after all other inputs."`
	Start         start               `yaml:"start" doc:"How the robot begins."`
	Fall          *fall               `yaml:"fall" otherwise:"none" doc:"What becomes of a robot that has fallen. Its attitude is that of its imu; of a simulated one without an imu, its pose."`
	Guard         Guard               `yaml:"guard" doc:"Limits and checks between controllers and the robot."`
	Hardware      *Hardware           `yaml:"hardware" doc:"Devices of the robot; required by real and emulated bodies."`
}

// Drive says how a robot's wheels carry it.
type Drive struct {
	Kind   string   `yaml:"kind" required:"true" enum:"differential|skid|ackermann|omni|mecanum" doc:"differential, skid: fixed wheels on two sides. ackermann: some are steered. omni: wheels with rollers across, three or more. mecanum: four with rollers at 45°."`
	Wheels []string `yaml:"wheels" doc:"Joints of the driven wheels. Default: all that turn without end, lie, and carry something round."`
	Steer  []string `yaml:"steer" doc:"Of ackermann: the joints that steer."`
	Radius float64  `yaml:"radius" default:"0" min:"0" max:"10" doc:"Of the wheels, m. 0: of their shapes."`
}

// BodyOf is the body of joint: that of its entry in Parts, or the robot's.
func (r *Robot) BodyOf(joint string) BodyKind {
	if part, ok := r.Parts[joint]; ok {
		return part
	}
	return r.Body
}

// Has reports whether the body or any part of the robot is of kind k.
func (r *Robot) Has(k BodyKind) bool {
	for _, part := range r.Parts {
		if part == k {
			return true
		}
	}
	return r.Body == k
}

// HasOther reports whether a part of the robot is not k.
func (r *Robot) HasOther(k BodyKind) bool {
	for _, part := range r.Parts {
		if part != k {
			return true
		}
	}
	return r.Body != k
}

// MostReal is the most real of the body and its parts: the body of devices that belong to no part.
func (r *Robot) MostReal() BodyKind {
	for _, k := range []BodyKind{Real, Emulated} {
		if r.Has(k) {
			return k
		}
	}
	return Sim
}

// Devices returns the hardware of the robot, empty if the config has none.
func (r *Robot) Devices() Hardware { return Or(r.Hardware, Hardware{}) }

// Joint returns the actuator of a joint, nil if the config has none.
func (r *Robot) Joint(name string) *Joint {
	if j, ok := r.Devices().Joints[name]; ok {
		return &j
	}
	return nil
}

// Pose is a position and an attitude in the world.
type Pose struct {
	Position [3]float64 `yaml:"position" default:"[0, 0, 0]" doc:"x, y, z, m."`
	Rotation [3]float64 `yaml:"rotation" default:"[0, 0, 0]" doc:"Roll, pitch, yaw, rad."`
}

// start is how a robot begins.
type start struct {
	Hold string        `yaml:"hold" default:"none" enum:"none|until-armed" doc:"until-armed: the root of a simulated or emulated robot is fixed in its start pose, as in a gantry, until all its joints have torque and torque_ramp is over; again after each reset. Real robots need a stand."`
	Ramp time.Duration `yaml:"torque_ramp" default:"0s" min:"0s" max:"1m" doc:"How long the torque limit of a joint rises after its torque went on, on all bodies."`
}

// couple is what a real joint feels.
type couple struct {
	Gain float64 `yaml:"gain" default:"1" min:"0" max:"10" doc:"Share of the load's torque."`
	Max  float64 `yaml:"max_nm" required:"true" min:"0.001" max:"1000" doc:"Greatest torque that is added to the commanded one, N·m (N of a slide). It is reached in 50 ms at the earliest."`
}

// fall is the detection of falls.
type fall struct {
	Tilt float64       `yaml:"tilt" required:"true" min:"0.1" max:"3.1" doc:"Tilt of the robot that is a fall, rad from the vertical."`
	For  time.Duration `yaml:"for" default:"200ms" min:"0s" max:"10s" doc:"How long it must last."`
	Then string        `yaml:"then" default:"torque_off" enum:"torque_off|hold|park" doc:"torque_off: torque off and disarmed. hold, park: as guard.on_timeout, and commands are refused until the robot stands."`
}

// Guard holds the user's settings of a robot's guard; see hal.GuardConfig. Emergency stop and soft limits are not here:
// no config switches them off.
type Guard struct {
	CommandTimeout time.Duration      `yaml:"command_timeout" min:"0s" max:"1h" otherwise:"500ms where anything of the robot is real or emulated, 2s there for USARSim and Simloid, whose commands persist; else none" doc:"A joint stops if no command for it arrives for this long, also while its client is connected; none = never."`
	OnTimeout      string             `yaml:"on_timeout" default:"hold" enum:"hold|torque_off|park" doc:"Stop policy. hold: keep position. torque_off: switch torque off; an arm falls. park: move slowly to the default pose."`
	Slew           float64            `yaml:"slew" default:"1" min:"0.001" max:"1" doc:"Maximum speed of position goals, as a share of the joint's maximum speed. 1 is unlimited for simulated robots of the original Simloid, as there."`
	HomeSpeed      float64            `yaml:"home_speed" default:"0.5" min:"0.001" max:"100" doc:"Speed of park, and of the reset of a real robot, rad/s."`
	FollowingError float64            `yaml:"following_error" default:"0" min:"0" max:"10" doc:"How far a position goal may be ahead of the joint, rad or m. A joint that is held back and released makes up for no more. 0 = 0.2 and the way of 0.1 s at the slew limit."`
	Arming         string             `yaml:"arming" enum:"operator|client" otherwise:"operator where anything of the robot is real, else client" doc:"Which commands arm it. operator: only halyard arm. client: a client's own arm command too, but not after a stop, after an operator disarmed it or with armed: false."`
	VirtualContact string             `yaml:"virtual_contact" default:"report" enum:"ignore|report|stop" doc:"What a contact of a real robot with something simulated does, of which it feels nothing. report: the event and the value /AGENT/VirtualContact, and a line in the log. stop: also hold still until an operator arms."`
	KeepOut        map[string]float64 `yaml:"keep_out" min:"0" max:"10" otherwise:"none" doc:"Simulated things that joints and wheels, real ones too, are slowed down before, and the distance, m, at which they stop. {scene: 0.05}: 5 cm from all of the scene that never moves; other names are robots and loose things."`
	Passive        bool               `yaml:"-"` // the leader of a teleop: its joints are only read
	Armed          bool               `yaml:"armed" otherwise:"false where arming is operator, else true" doc:"Whether it starts armed. false: torque stays off until halyard arm."`
}

// Hardware lists the devices of a robot.
type Hardware struct {
	Base     *Base             `yaml:"base" doc:"The robot base: drives the wheels and provides sonar, odometry, encoders, bumpers and battery. Its name in parts is base."`
	Joints   map[string]Joint  `yaml:"joints" form:"name" doc:"The actuator of each joint or thruster, by name: a servo (bus, id, model), or a channel of a PWM board (bus, device, channel)."`
	Sensors  map[string]Sensor `yaml:"sensors" form:"name" doc:"Sensor devices, by the name of the robot's sensor. One device can provide several sensors. below and above raise the event /AGENT/NAME/Alarm."`
	Estop    *Wire             `yaml:"estop" otherwise:"none" doc:"A normally closed emergency-stop button. An open circuit (button pressed, wire cut) or no reading for 100ms stops the whole rig and latches. The value /AGENT/estop is true while the circuit is open; setting it presses an emulated button."`
	Lights   map[string]Wire   `yaml:"lights" form:"name" doc:"Switched outputs, by name; USARSim clients switch headlight. Each is the value /AGENT/NAME; the event /AGENT/NAME/Fault reports a lost chip."`
	Cameras  map[string]Camera `yaml:"cameras" form:"name" doc:"Camera devices, by the name of the robot's camera."`
	Monitors map[string]Sensor `yaml:"monitors" form:"name" doc:"Sensor devices in addition to the robot's sensors, by any name, for example leak. The keys are those of sensors."`
}

// Joint is the actuator of one joint: a servo, or, if Device is set, a PWM channel. 253 is the greatest id of any
// vendor; cmd checks the vendor's own range, and the devices.
type Joint struct {
	Bus          string         `yaml:"bus" required:"without device" doc:"The bus of the device, one of buses."`
	ID           int            `yaml:"id" required:"without device" min:"0" max:"253" doc:"Id of the servo on that bus."`
	Model        string         `yaml:"model" file:"name" required:"without device" form:"servo" doc:"Servo model, for example ax-12a, mx-28, xm430-w350; halyard scan prints it. Or the path of a servo file, written by halyard identify."`
	Device       string         `yaml:"device" form:"kind" doc:"PWM board, instead of id and model: pca9685 on i2c, maestro on serial, kernel-pwm without a bus."`
	Address      *int           `yaml:"address" min:"0" max:"1023" otherwise:"the board's usual" doc:"Address of a pca9685 (0x40); device number of a maestro, if several share a line or its settings require it; chip number of kernel-pwm."`
	Channel      *int           `yaml:"channel" required:"with device" min:"0" max:"255" doc:"Channel of the board, from 0."`
	Frequency    *float64       `yaml:"frequency" min:"24" max:"400" otherwise:"50" doc:"Pulse frequency of the whole board, Hz; set at any one of its channels."`
	Oscillator   *float64       `yaml:"oscillator" min:"20000000" max:"50000000" otherwise:"25000000" doc:"Measured clock of a pca9685, Hz; set at any one of its channels."`
	CRC          bool           `yaml:"crc" default:"false" doc:"Commands to a maestro carry a CRC; must match its settings."`
	OutputEnable *Wire          `yaml:"output_enable" otherwise:"none" doc:"GPIO line at the OE pin of a PWM board, which switches all its pulses off independently of the bus; set at any one of its channels. Off until the first pulses, at an emergency stop and at exit."`
	Calibration  string         `yaml:"calibration" file:"path" doc:"Calibration file, which converts ticks or pulses to joint units. Required by a real joint; others default to nominal values."`
	GroundTruth  *GroundTruth   `yaml:"ground_truth" otherwise:"the calibration" doc:"True mounting of an emulated servo, to test a wrong calibration."`
	Supply       *Supply        `yaml:"supply" otherwise:"the bus's" doc:"Supply of this servo, for example an XL330 behind a converter to 5 V among XL430 at 12 V."`
	Registers    map[string]int `yaml:"registers" form:"kind" doc:"Register values to write at startup, by name, in raw units (position_p_gain: 400)."`
	EEPROM       map[string]int `yaml:"eeprom" form:"kind" doc:"EEPROM registers as the servo was set up, by name, in raw units (shutdown: 52): simulated and emulated servos have them. They are never written to a real servo: halyard setup does that."`
}

// Sensor is a device that measures: a sensor of the robot, or a monitor.
type Sensor struct {
	Bus               string        `yaml:"bus" required:"true" doc:"The bus of the device, one of buses."`
	Device            string        `yaml:"device" required:"true" form:"kind" doc:"Device model. IMU: bno055, mpu-6050, mpu-6500, mpu-9250, mpu-9255, lsm6dsox. Pressure: ms5837-30ba, ms5837-02ba (water), bmp280, bme280 (air). Voltage: ina219 (supply), ads1115 (one input). Tags: rdm6300 (125 kHz), pn532 (13.56 MHz). GPIO: bumper, encoder, hc-sr04 (sonar), pir (motion). Range: sick-lms200, sick-lms291, hokuyo, rplidar."`
	Address           *int          `yaml:"address" min:"0" max:"127" otherwise:"the device's usual" doc:"I2C address; on SPI the port selects the chip."`
	Rate              float64       `yaml:"rate" default:"50" min:"0.1" max:"1000" doc:"Sample rate, Hz; limited by the device."`
	Calibration       string        `yaml:"calibration" file:"path" doc:"Calibration file of an IMU: mounting and offsets. Required by a real IMU."`
	GroundTruth       string        `yaml:"ground_truth" file:"path" otherwise:"the calibration" doc:"Calibration file that describes an emulated IMU as it really is, to test a wrong calibration."`
	ReferencePressure float64       `yaml:"reference_pressure" default:"101325" min:"0" max:"200000" doc:"Pressure sensor: pressure subtracted from its values, Pa; the air pressure at sea level gives depth."`
	Density           float64       `yaml:"density" default:"997" min:"900" max:"1200" doc:"Water pressure sensor: density used to compute depth, kg/m³; 1029 for sea water."`
	Compass           bool          `yaml:"compass" default:"false" doc:"bno055: correct the heading with the magnetometer. Thrusters and motors nearby disturb it."`
	GyroRange         float64       `yaml:"gyro_range" default:"500" min:"125" max:"2000" doc:"mpu, lsm6dsox: gyro range, °/s: 250, 500, 1000, 2000; lsm6dsox also 125. A smaller range has a finer resolution."`
	AccRange          float64       `yaml:"acceleration_range" default:"4" min:"2" max:"32" doc:"mpu, lsm6dsox: accelerometer range, g: 2, 4, 8, 16; lsm6dso32: 4, 8, 16, 32. Walking robots need 8 or more."`
	Input             int           `yaml:"input" default:"0" min:"0" max:"3" doc:"ads1115: input. Each input is its own sensor or monitor, at the same address."`
	Scale             float64       `yaml:"scale" default:"1" min:"-1000" max:"1000" doc:"ads1115: factor from volts at the input to the value; 11 behind a divider by 11."`
	Shunt             float64       `yaml:"shunt" default:"0.1" min:"0.0001" max:"10" doc:"ina219: shunt, Ω. The range is 0.32 V across it, 3.2 A with 0.1 Ω."`
	Lines             []Line        `yaml:"lines" form:"line" doc:"GPIO lines, by offset or name. bumper, pir: one. encoder: A, B; swap them to reverse the count. hc-sr04: trigger, echo."`
	ActiveLow         *bool         `yaml:"active_low" otherwise:"true of a bumper, false of a pir" doc:"GPIO: the low level means touched or moved; false for a normally closed switch to ground."`
	Bias              Bias          `yaml:"bias" default:"usual" enum:"usual|up|down|none" doc:"GPIO: internal pull resistor. usual: up for bumper and encoder, none for others."`
	Debounce          time.Duration `yaml:"debounce" default:"10ms" min:"1ms" max:"1s" doc:"bumper: time without an edge until it counts as released; a touch counts at once. pir: debounce period of the kernel."`
	AirTemperature    float64       `yaml:"air_temperature" default:"20" min:"-40" max:"85" doc:"hc-sr04: air temperature, °C, used for the speed of sound."`
	Scanner           `yaml:",inline"`
	Required          bool     `yaml:"required" default:"true" doc:"Robot with a base: if this sensor is lost for one second the wheels stop until it recovers and a new command arrives."`
	Overlay           string   `yaml:"overlay" default:"none" enum:"none|scene" doc:"Of a real scanner or sonar. scene: each ray is the nearer of the measured and the simulated one; the channel NAME/overlay counts those that are simulated."`
	Below             *float64 `yaml:"below" otherwise:"no alarm" doc:"Alarm while the first value is below this, for example a low battery."`
	Above             *float64 `yaml:"above" otherwise:"no alarm" doc:"Alarm while the first value is above this, for example a leak."`
}

// Line names a line of a GPIO chip: by its offset, or by the name that the board's vendor gave it.
type Line string

// Bias is a resistor inside a GPIO chip.
type Bias string

// The resistors.
const (
	UsualBias Bias = "usual"
	Up        Bias = "up"
	Down      Bias = "down"
	NoBias    Bias = "none"
)

// Wire is a device that consists of one line of a GPIO chip.
type Wire struct {
	Bus       string `yaml:"bus" required:"true" doc:"GPIO chip, one of buses."`
	Line      Line   `yaml:"line" required:"true" form:"line" doc:"Line, by offset or name (17, GPIO17)."`
	ActiveLow *bool  `yaml:"active_low" otherwise:"true of estop and output_enable, false of lights" doc:"The low level is on; for estop the low level is the closed circuit. The pull resistor of an estop line has the opposite level, so that a cut wire is detected."`
}

// Or returns the value of a key that the config sets, or otherwise if given is nil.
func Or[T any](given *T, otherwise T) T {
	if given == nil {
		return otherwise
	}
	return *given
}

// Camera is the device of one of the robot's cameras.
type Camera struct {
	Device string  `yaml:"device" required:"true" form:"kind" doc:"Device type: v4l2, a Linux camera."`
	Port   string  `yaml:"port" form:"port" doc:"Device file, by its stable name under /dev/v4l/by-id/ that ends in index0. Required by real cameras only."`
	Width  *int    `yaml:"width" min:"1" max:"4096" otherwise:"that of the robot's camera" doc:"Image width, pixels, also of the simulated camera. The device must support it; halyard doctor lists the sizes."`
	Height *int    `yaml:"height" min:"1" max:"4096" otherwise:"that of the robot's camera" doc:"Image height, pixels."`
	Rate   float64 `yaml:"rate" default:"30" min:"0.1" max:"120" doc:"Requested frame rate, Hz; the device may use a similar one."`
	Format string  `yaml:"format" default:"mjpeg" enum:"mjpeg|yuyv|rgb24|grey" doc:"Pixel format. mjpeg: compressed; most USB cameras support it. The others are uncompressed."`
}

// GroundTruth holds the true values of an emulated servo. Values left out are the inverse of the calibration, which is
// then exact.
type GroundTruth struct {
	Zero      *float64 `yaml:"zero" otherwise:"as calibrated" doc:"Tick at which the joint is at 0 rad."`
	Direction *int     `yaml:"direction" otherwise:"as calibrated" enum:"1|-1" doc:"Direction of the joint while ticks increase."`
	Gear      *float64 `yaml:"gear" otherwise:"as calibrated" min:"0.001" max:"1000" doc:"Servo turns per joint turn."`
	Backlash  float64  `yaml:"backlash" default:"0" min:"0" max:"1" doc:"Backlash of the joint, rad, end to end."`
}

// Outputs selects the scale of measured values in replies.
type Outputs string

// The units.
const (
	Normalised Outputs = "normalised"
	Physical   Outputs = "physical"
)

// Server is one protocol on one address. For a protocol that serves one robot, Agent is filled in if there is only one.
// An empty Agent means all robots.
type Server struct {
	Protocol        string        `yaml:"protocol" required:"true" form:"kind" doc:"osp, odcp, simloid, gamebots, imageserver, player, nml, okon, okon-video, batch, rosbridge, foxglove or ros2."`
	Listen          string        `yaml:"listen" required:"true" form:"address" doc:"HOST:PORT; port 0 selects a free port. A host other than loopback lets the network command the robot."`
	Agent           string        `yaml:"agent" otherwise:"all; for odcp, simloid and okon the only one" doc:"Agent of this server."`
	ClientTimeout   time.Duration `yaml:"client_timeout" min:"0s" max:"24h" otherwise:"none in lockstep, 2s in realtime; none for simloid, gamebots, imageserver, player, nml and okon" doc:"Registrations of a client are released after this long without a message; none = never."`
	AckTimeout      time.Duration `yaml:"ack_timeout" min:"1ms" max:"1m" otherwise:"500ms; 30s for simloid" doc:"Time to wait for an acknowledgement before the rig continues."`
	Outputs         Outputs       `yaml:"outputs" default:"normalised" enum:"normalised|physical" doc:"OSP outputs and infos. normalised: as specified. physical: as the original program."`
	Dialect         string        `yaml:"dialect" default:"document" enum:"document|later|original|udk|auto" doc:"document: as specified. later: Simloid from 2018, USARSim from 2007 to 2010. udk: USARSim from 2010. auto: gamebots, what the client's first words show, else document. original: Okon's HIT_NGZ, HIT_FZ, CHK_AP and angularAccel as its simulator sent them."`
	Noise           bool          `yaml:"noise" default:"true" doc:"simloid: simulate sensor noise, seeded by world.seed."`
	PID             *[3]float64   `yaml:"pid" min:"0" max:"1000" otherwise:"those of its robot" doc:"simloid: gains of the original position controllers, 0..1000."`
	StartTorque     *float64      `yaml:"start_torque" min:"0.001" max:"1" otherwise:"0.5" doc:"simloid: initial maximum torque of the original position controllers."`
	Once            bool          `yaml:"once" default:"false" doc:"simloid: end the program when its client has left, as the original program did."`
	Poll            bool          `yaml:"poll" default:"true" doc:"simloid: poll up to 100 us for the next request of a client that answers at once, instead of waiting for it to wake the processor. Not for a client in the server's own process."`
	KeepState       bool          `yaml:"keep_state" default:"false" doc:"simloid: keep the state of a simulated robot when a client leaves; otherwise the next client finds the start state."`
	Teleport        bool          `yaml:"teleport" default:"false" doc:"okon: move a simulated robot that enters a no-go or finish zone to a start zone, as the original did."`
	GivenMaxClients *int          `yaml:"max_clients" min:"1" max:"1024" otherwise:"16; 256 of okon" doc:"gamebots, imageserver, player, okon, rosbridge, foxglove: maximum number of clients. Each gamebots client has one robot."`
	// MaxClients is GivenMaxClients, or the usual number of the protocol if the config has none.
	MaxClients   int           `yaml:"-"`
	Origins      []string      `yaml:"origins" doc:"rosbridge, foxglove: hosts of web pages whose scripts may connect, such as robots.example; pages of this computer always may."`
	ROS          int           `yaml:"ros" default:"2" min:"1" max:"2" doc:"rosbridge: names and times of which ROS clients get that name no types themselves."`
	Namespace    string        `yaml:"namespace" otherwise:"none" doc:"ros2: namespace of the node's topics, services and actions, such as /arm; tf, clock and diagnostics have none."`
	Domain       int           `yaml:"domain" default:"0" min:"0" max:"232" doc:"ros2: ROS_DOMAIN_ID of the node and of those that it talks to."`
	Range        string        `yaml:"range" otherwise:"localhost where listen is loopback, else subnet" enum:"localhost|subnet" doc:"ros2: where other nodes are. localhost: on this computer, by unicast; needs a loopback listen. subnet: by multicast in the networks of listen, which is an interface's address or 0.0.0.0."`
	Peers        []string      `yaml:"peers" doc:"ros2: addresses of computers that multicast does not reach, as ROS_STATIC_PEERS: 10.0.0.7, or 10.0.0.7:7410 for one participant. Needs range subnet."`
	PartialGoals bool          `yaml:"partial_goals" default:"false" doc:"ros2: accept trajectories of some of the robot's joints, as joint_trajectory_controller's allow_partial_joints_goal; the others hold."`
	Levels       string        `yaml:"levels" otherwise:"all" doc:"nml: levels of MOAST to run, of servo, prim, am, veh and sect, separated by commas."`
	Encoding     string        `yaml:"encoding" default:"packed" enum:"packed|xdr|disp" doc:"nml: message encoding. Every rcslib program reads packed."`
	ServoCycle   time.Duration `yaml:"servo_cycle" default:"10ms" min:"1ms" max:"1s" doc:"nml: cycle of MOAST's servo level."`
	UTMOffset    *[3]float64   `yaml:"utm_offset" otherwise:"0, 0, 0" doc:"nml: northing, easting, down, m, of the map's origin: added to absolute coordinates."`
	Format       string        `yaml:"format" default:"raw" enum:"raw|super|good|normal|average|bad" doc:"imageserver: image format. All but raw are JPEG, in order of decreasing quality."`
	FrameRate    float64       `yaml:"frame_rate" default:"30" min:"0.1" max:"120" doc:"imageserver: maximum frame rate, Hz."`
	Width        *int          `yaml:"width" min:"1" max:"4096" otherwise:"the camera's own" doc:"imageserver: of every picture, pixels."`
	Height       *int          `yaml:"height" min:"1" max:"4096" otherwise:"the camera's own" doc:"imageserver: of every picture, pixels."`
}
