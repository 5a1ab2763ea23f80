package configs

import (
	"path/filepath"
	"time"

	"github.com/halyard-robotics/halyard/internal/yaml"
)

// Config is one rig. Load returns it complete: every default is filled in, and all that can be known from the file
// alone has been checked. It does not change afterwards; any goroutine may read it.
//
// The tags of the fields are the only place where a key, its default, its rule and its meaning are written down:
//
//	yaml       the key
//	doc        what it means, with its unit; the reference is made of it
//	default    its value where the file is silent, as YAML
//	otherwise  in words, a default that is connected to other keys; complete works it out
//	required   the key must be there
//	enum       the words allowed, separated by |
//	min, max   the range allowed, ends included
//	form       a pattern of forms (rules.go)
type Config struct {
	Name    string           `yaml:"name" required:"true" form:"name" doc:"The rig's name; its socket and its logs carry it."`
	Clock   Clock            `yaml:"clock" doc:"What a cycle waits for."`
	World   World            `yaml:"world" doc:"The simulated world."`
	Buses   map[string]Bus   `yaml:"buses" form:"name" doc:"Serial lines, I2C buses, ports of SPI and GPIO chips by name; any number of agents may share one."`
	Agents  []Agent          `yaml:"agents" doc:"The robots."`
	Servers []Server         `yaml:"servers" doc:"The protocols that controllers may speak."`
	Classes map[string]Robot `yaml:"classes" form:"class" doc:"What a protocol's spawned class is (USARSim INIT), by the class's name."`

	Source string `yaml:"-"` // the file's path as given, or the name of the embedded config
	Dir    string `yaml:"-"` // the folder of the file; empty for an embedded config
	Notes  Faults `yaml:"-"` // what is allowed but worth a look; never an error

	document *yaml.Document // where each key stands, for the faults that others find; nil of a config that was not read

	data    []byte // the document that it was read from, and what the caller changed of it
	options Options
}

// Resolve returns a path of the config as the operating system takes it: relative paths start at the config's folder.
func (c *Config) Resolve(path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(c.Dir, path)
}

// ClockMode says what time passes by.
type ClockMode string

// The clock modes.
const (
	Lockstep ClockMode = "lockstep"
	Realtime ClockMode = "realtime"
)

// Clock is what a cycle waits for. An explicit lockstep with a real body is a fault; without a mode the bodies decide.
type Clock struct {
	Mode   ClockMode     `yaml:"mode" enum:"lockstep|realtime" otherwise:"realtime where anything is real, else lockstep" doc:"lockstep: time passes when every controller has asked for the step. realtime: time is the wall's."`
	Period time.Duration `yaml:"period" default:"10ms" min:"100us" max:"1s" doc:"Length of one cycle."`
}

// World is the simulated world.
type World struct {
	Scene   string        `yaml:"scene" default:"flat" doc:"A scene by name (flat, hurdles, hills, shaky, stairs, plates; pool, which is full of water), or the path of a scene file."`
	Gravity float64       `yaml:"gravity" default:"9.81" min:"-1000" max:"1000" doc:"Its pull downwards, m/s²."`
	Seed    int64         `yaml:"seed" default:"1" doc:"What all randomness starts from; the same seed gives the same run."`
	Substep time.Duration `yaml:"substep" min:"10us" max:"100ms" otherwise:"the longest part of the period up to 1ms; up to 10ms where all robots are Simloid's" doc:"Length of one step of the physics; the period is a whole number of them."`
	// OwnSubstep reports that the config named no Substep.
	OwnSubstep bool `yaml:"-"`
}

// Bus is one serial line, I2C bus, port of SPI or GPIO chip. Type is an open set: a new vendor is a case in cmd, not here.
type Bus struct {
	Type          string        `yaml:"type" required:"true" form:"kind" doc:"What is spoken on the line: dynamixel1, dynamixel2, feetech, hiwonder or kondo where smart servos hang on it; vesc or odrive where motor controllers do, odrive-can or cybergear on CAN; i2c; spi, with one chip; gpio; serial where one other device is at its end: a Maestro, a BNO055, a robot base, a laser scanner or a reader of tags."`
	Port          string        `yaml:"port" form:"port" doc:"The adapter, best by its stable name under /dev/serial/by-id/; of type i2c a bus such as /dev/i2c-1; of type spi a select of one, /dev/spidev0.1 (bus 0, select 1); of CAN an interface such as can0; of type gpio a chip such as /dev/gpiochip0, or its label, pinctrl-rp1; of type serial tcp://HOST:PORT too, of a scanner on the network. Needed by real devices only."`
	Baud          int           `yaml:"baud" min:"1200" max:"4500000" otherwise:"1000000; 115200 of type serial" doc:"Rate of a serial line or of a CAN bus, bits per second. A base is found at 9600 and 38400 too; a sick goes at 38400 unless told 500000, 19200 or 9600."`
	Frequency     int           `yaml:"frequency" min:"10000" max:"10000000" otherwise:"400000; 1000000 of type spi" doc:"Clock of a port of SPI, Hz; of an I2C bus where it is emulated, 5000000 at most, while that of a real one is set by the device tree."`
	SerialBackend string        `yaml:"serial_backend" default:"bugst" enum:"bugst|tarm" doc:"The library that opens the port. tarm: 115200 baud and below, without timing guarantees."`
	Latency       time.Duration `yaml:"latency" default:"1ms" min:"1ms" max:"255ms" doc:"Latency timer to set in an FTDI adapter, in whole milliseconds."`
	ReturnDelay   time.Duration `yaml:"return_delay" default:"0s" min:"0s" max:"508us" doc:"How long each servo waits before it answers, in steps of 2us: what emulated servos have, and what the doctor expects of real ones (halyard registers write PORT --id N return_delay=0)."`
	Timing        Timing        `yaml:"timing" doc:"How the line behaves where it is emulated."`
}

// Timing is how an emulated line behaves beyond its baud rate: that of an ideal adapter unless told otherwise, so that
// what a benchmark shows is the bus. The servo delay is the one constant fitted to published cycle times.
type Timing struct {
	ServoDelay   time.Duration `yaml:"servo_delay" default:"50us" min:"0s" max:"100ms" doc:"What a servo needs to work out its answer, on top of its return delay."`
	USBFrame     time.Duration `yaml:"usb_frame" default:"0s" min:"0s" max:"10ms" doc:"Frame of the USB link, each way: 1ms at full speed, 125us at high speed."`
	LatencyTimer time.Duration `yaml:"latency_timer" default:"0s" min:"0s" max:"255ms" doc:"How long the adapter keeps a short packet back; an FTDI adapter as it comes has 16ms."`
	Echo         bool          `yaml:"echo" default:"false" doc:"The adapter hears what it sends."`
}

// BodyKind says what a robot is made of; this is the one word that moves a controller from physics to motors.
type BodyKind string

// The kinds of body.
const (
	Sim      BodyKind = "sim"
	Emulated BodyKind = "emulated"
	Real     BodyKind = "real"
)

// Agent is one robot of the rig.
type Agent struct {
	Name  string `yaml:"name" required:"true" form:"name" doc:"The robot's name, for controllers, servers and --listen."`
	Pose  Pose   `yaml:"pose" doc:"Where it starts in the world."`
	Robot `yaml:",inline"`
}

// Robot is what a robot is and what it is made of, wherever it stands. A spawned class is one without name and place.
type Robot struct {
	Model    string              `yaml:"model" required:"true" doc:"An embedded robot by name (simloid-31 is Simloid's robot 31), or the path of a robot file, a vehicle file or a URDF file, NAME.urdf."`
	Body     BodyKind            `yaml:"body" default:"sim" enum:"sim|emulated|real" doc:"sim: physics. emulated: the real driver stack on emulated devices. real: the devices under hardware. Never a silent fall back."`
	Parts    map[string]BodyKind `yaml:"parts" enum:"sim|emulated|real" doc:"Joints, sensors, cameras and monitors with another body than the rest, by name; base is the base."`
	Shadow   bool                `yaml:"shadow" default:"false" doc:"Simulate beside a real or emulated body on the same commands, and publish the difference as JOINT/shadow_error."`
	Guard    Guard               `yaml:"guard" doc:"What stands between controllers and the robot."`
	Hardware *Hardware           `yaml:"hardware" doc:"The devices it is made of; needed by real and emulated bodies."`
}

// BodyOf says what joint is made of: its part, or the body of the rest.
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

// MostReal is the most real of what the robot is made of: what a device is that belongs to no part.
func (r *Robot) MostReal() BodyKind {
	for _, k := range []BodyKind{Real, Emulated} {
		if r.Has(k) {
			return k
		}
	}
	return Sim
}

// Pose is a place and an attitude in the world.
type Pose struct {
	Position [3]float64 `yaml:"position" default:"[0, 0, 0]" doc:"x, y, z in m."`
	Rotation [3]float64 `yaml:"rotation" default:"[0, 0, 0]" doc:"Roll, pitch, yaw in rad."`
}

// Guard is what a user may set of a robot's guard. hal.GuardConfig says how each acts. Emergency stop and soft limits
// are not here: no config switches them off.
type Guard struct {
	CommandTimeout time.Duration `yaml:"command_timeout" min:"0s" max:"1h" otherwise:"500ms where anything of the robot is real or emulated, else none" doc:"Silence of the controller after which the robot stops by itself; none = never."`
	OnTimeout      string        `yaml:"on_timeout" default:"hold" enum:"hold|torque_off|park" doc:"How it stops then. hold: stays. torque_off: no torque, an arm falls. park: moves slowly to its default pose."`
	Slew           float64       `yaml:"slew" default:"1" min:"0.001" max:"1" doc:"Position goals move at most at this share of the joint's greatest speed. Where a robot of the original Simloid is simulated 1 is no bound, as there."`
	HomeSpeed      float64       `yaml:"home_speed" default:"0.5" min:"0.001" max:"100" doc:"Speed of park and of a real robot's reset, rad/s."`
	Armed          bool          `yaml:"armed" default:"true" doc:"false: limp until halyard arm."`
}

// Hardware is what a robot is made of.
type Hardware struct {
	Base     *Base             `yaml:"base" doc:"The robot base that turns the wheels and is all of the robot's sensors that it has: sonar, odometry, encoders, bumpers, battery. In parts it is base."`
	Joints   map[string]Joint  `yaml:"joints" form:"name" doc:"What drives each joint or thruster, by its name: a servo of a bus (bus, id, model), or a channel of a board that makes pulses (bus, device, channel)."`
	Sensors  map[string]Sensor `yaml:"sensors" form:"name" doc:"The devices that measure, by the name of the robot's sensor that each is. One device may be several. With below or above its alarm is the event /AGENT/NAME/Alarm."`
	Estop    *Wire             `yaml:"estop" otherwise:"none" doc:"The circuit of an emergency-stop button, normally closed. Opened, by the button or a cut wire, or not heard of for 100ms, it stops the whole rig, latched. It is also the value /AGENT/estop, true while it is open; of an emulated one the value presses the button."`
	Lights   map[string]Wire   `yaml:"lights" form:"name" doc:"What is switched on and off, by name: headlight is the one that USARSim's clients switch. Each is also the value /AGENT/NAME; the event /AGENT/NAME/Fault says that its chip is gone."`
	Cameras  map[string]Camera `yaml:"cameras" form:"name" doc:"The devices that take pictures, by the name of the robot's camera that each is."`
	Monitors map[string]Sensor `yaml:"monitors" form:"name" doc:"Devices that are watched beside the robot's sensors, by a name of yours: a leak, say. The keys are those of sensors."`
}

// Joint is what drives one joint: a servo, or where Device is set a channel of pulses. Ids up to 253 are what one vendor or
// another allows; cmd knows the vendor's own range, and the devices.
type Joint struct {
	Bus          string         `yaml:"bus" required:"without device" doc:"The line it hangs on, one of buses."`
	ID           int            `yaml:"id" required:"without device" min:"0" max:"253" doc:"A servo's address on that line."`
	Model        string         `yaml:"model" required:"without device" form:"kind" doc:"What servo it is: ax-12a, mx-28, xm430-w350; halyard scan says it."`
	Device       string         `yaml:"device" form:"kind" doc:"The board that makes its pulses, in place of id and model: pca9685 on i2c, maestro on serial, or kernel-pwm, which needs no bus."`
	Address      *int           `yaml:"address" min:"0" max:"1023" otherwise:"the board's usual" doc:"The board's address: 0x40 of a pca9685; the number of a maestro, where several share a line or it asks for it; the chip of kernel-pwm."`
	Channel      *int           `yaml:"channel" required:"with device" min:"0" max:"255" doc:"Which of the board's channels, from 0."`
	Frequency    *float64       `yaml:"frequency" min:"24" max:"400" otherwise:"50" doc:"How many pulses a second the whole board makes; said at any one of its channels."`
	Oscillator   *float64       `yaml:"oscillator" min:"20000000" max:"50000000" otherwise:"25000000" doc:"Of a pca9685: its clock as measured, Hz; said at any one of its channels."`
	CRC          bool           `yaml:"crc" default:"false" doc:"Of a maestro: its commands have a CRC, as its settings say."`
	OutputEnable *Wire          `yaml:"output_enable" otherwise:"none" doc:"Of a board that makes pulses: what cuts all of them off beside the bus, the OE pin of a pca9685; said at any one of its channels. Closed until there are pulses, at an emergency stop and at the end."`
	Calibration  string         `yaml:"calibration" doc:"The file that maps its ticks or pulses to what they make. A real joint needs one; others have nominal values without."`
	GroundTruth  *GroundTruth   `yaml:"ground_truth" otherwise:"as the calibration says" doc:"What an emulated servo really is, so that a calibration can be wrong."`
	Registers    map[string]int `yaml:"registers" form:"kind" doc:"Values to write at the start, by the register's name, in the servo's own units (position_p_gain: 400)."`
}

// Sensor is a device that measures: a sensor of the robot, or a monitor.
type Sensor struct {
	Bus               string        `yaml:"bus" required:"true" doc:"The line it hangs on, one of buses."`
	Device            string        `yaml:"device" required:"true" form:"kind" doc:"What it is. imu: bno055, mpu-6050, mpu-6500, mpu-9250, mpu-9255 or lsm6dsox. Pressure: ms5837-30ba or ms5837-02ba under water, bmp280 or bme280 in air. Voltage: ina219, of a supply, or ads1115, at one of its inputs. Tags: rdm6300 (125 kHz) or pn532 (13.56 MHz). On a GPIO chip: bumper, encoder, hc-sr04 (sonar) or pir (motion). Range: sick-lms200, sick-lms291, hokuyo or rplidar."`
	Address           *int          `yaml:"address" min:"0" max:"127" otherwise:"the device's usual" doc:"Its address on an I2C bus; on SPI the port says which chip is meant."`
	Rate              float64       `yaml:"rate" default:"50" min:"0.1" max:"1000" doc:"How often it is read, Hz; a slow device is read as often as it can."`
	Calibration       string        `yaml:"calibration" doc:"The file that says how an inertial sensor lies in its mount, and its offsets. A real one needs it; others need none."`
	ReferencePressure float64       `yaml:"reference_pressure" default:"101325" min:"0" max:"200000" doc:"Of a pressure sensor: the pressure that its values count from, Pa; that of the air at sea level gives depth."`
	Density           float64       `yaml:"density" default:"997" min:"900" max:"1200" doc:"Of a pressure sensor under water: how heavy the water is, kg/m³, by which depth is reckoned; 1029 in the sea."`
	Compass           bool          `yaml:"compass" default:"false" doc:"Of a bno055: its magnetometer keeps the heading. Near thrusters and motors it is led astray."`
	GyroRange         float64       `yaml:"gyro_range" default:"500" min:"125" max:"2000" doc:"Of an mpu or lsm6dsox: the fastest turn that it measures, °/s: 250, 500, 1000 or 2000; 125 of the latter too. The narrower, the finer."`
	AccRange          float64       `yaml:"acceleration_range" default:"4" min:"2" max:"16" doc:"Of an mpu or lsm6dsox: the greatest acceleration that it measures, g: 2, 4, 8 or 16. What walks and falls needs 8 or more."`
	Input             int           `yaml:"input" default:"0" min:"0" max:"3" doc:"Of an ads1115: which of its inputs; each is a sensor or a monitor of its own, at the same address."`
	Scale             float64       `yaml:"scale" default:"1" min:"-1000" max:"1000" doc:"Of an ads1115: what makes the value of the volts; behind a divider by 11 it is 11."`
	Shunt             float64       `yaml:"shunt" default:"0.1" min:"0.0001" max:"10" doc:"Of an ina219: its shunt, Ω. 0.32 V across it is the most that it measures, 3.2 A of 0.1 Ω; for more a smaller one is put in its place."`
	Lines             []Line        `yaml:"lines" form:"line" doc:"On a GPIO chip: its lines, by offset or name. Of a bumper and a pir one; of an encoder A and B, the other way round where it counts backwards; of an hc-sr04 trigger and echo."`
	ActiveLow         *bool         `yaml:"active_low" otherwise:"true of a bumper, false of a pir" doc:"On a GPIO chip: touched, or moved, is the low level. Of a normally closed switch to ground it is false."`
	Bias              Bias          `yaml:"bias" default:"usual" enum:"usual|up|down|none" doc:"On a GPIO chip: the resistor inside it that holds the line while nothing drives it. usual: up of a bumper and an encoder, none of others."`
	Debounce          time.Duration `yaml:"debounce" default:"10ms" min:"1ms" max:"1s" doc:"Of a bumper: how long it must be quiet to be released, while a touch counts at once. Of a pir: by the kernel."`
	AirTemperature    float64       `yaml:"air_temperature" default:"20" min:"-40" max:"85" doc:"Of an hc-sr04: the temperature of the air, by which sound is faster or slower."`
	Scanner           `yaml:",inline"`
	Required          bool     `yaml:"required" default:"true" doc:"Of a robot with a base: without it for a second the wheels stand still, until it is back and commanded anew."`
	Below             *float64 `yaml:"below" otherwise:"no alarm" doc:"The alarm is on while the first value is below this: a battery that runs low."`
	Above             *float64 `yaml:"above" otherwise:"no alarm" doc:"The alarm is on while the first value is above this: a leak sensor that gets wet."`
}

// Line names a line of a GPIO chip: by its offset, or by the name that the maker of the board gave it.
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

// Wire is one line of a GPIO chip, of what has no more than that.
type Wire struct {
	Bus       string `yaml:"bus" required:"true" doc:"The GPIO chip, one of buses."`
	Line      Line   `yaml:"line" required:"true" form:"line" doc:"Which of its lines, by offset or name (17, GPIO17)."`
	ActiveLow *bool  `yaml:"active_low" otherwise:"true of estop and gate, false of lights" doc:"The low level is on; of an estop, that of the closed circuit. The chip's resistor holds an estop's line against it, so that a cut wire is open."`
}

// Low reports whether the low level is the active one, which it is usually or not.
func Low(said *bool, usually bool) bool {
	if said == nil {
		return usually
	}
	return *said
}

// Camera is a device that takes pictures: one of the robot's cameras.
type Camera struct {
	Device string  `yaml:"device" required:"true" form:"kind" doc:"What it is: v4l2, a camera of the Linux kernel's, on USB mostly."`
	Port   string  `yaml:"port" form:"port" doc:"The device, best by its stable name under /dev/v4l/by-id/, the one that ends in index0. Needed by real cameras only."`
	Width  *int    `yaml:"width" min:"1" max:"4096" otherwise:"that of the robot's camera" doc:"Of a picture, pixels; the simulated camera has it then too. One that the device offers: halyard doctor lists them."`
	Height *int    `yaml:"height" min:"1" max:"4096" otherwise:"that of the robot's camera" doc:"Of a picture, pixels."`
	Rate   float64 `yaml:"rate" default:"30" min:"0.1" max:"120" doc:"Pictures a second that the device is asked for; it may have another one near it."`
	Format string  `yaml:"format" default:"mjpeg" enum:"mjpeg|yuyv|rgb24|grey" doc:"How pictures come from the device. mjpeg: compressed, as most cameras on USB have it. The others are raw: more bytes, no losses."`
}

// GroundTruth is what an emulated servo really is. What is left out is the inverse of the calibration, which then is right.
// The zero Direction and Gear stand for "as calibrated"; Zero is a pointer, for tick 0 is a tick.
type GroundTruth struct {
	Zero      *float64 `yaml:"zero" otherwise:"as calibrated" doc:"Tick at which the joint is at 0 rad."`
	Direction int      `yaml:"direction" otherwise:"as calibrated" enum:"1|-1" doc:"Which way the joint turns while ticks rise."`
	Gear      float64  `yaml:"gear" otherwise:"as calibrated" min:"0.001" max:"1000" doc:"Turns of the servo a turn of the joint."`
	Backlash  float64  `yaml:"backlash" default:"0" min:"0" max:"1" doc:"Play of the joint, rad from end to end."`
}

// Outputs says how measured values go out.
type Outputs string

// The ways.
const (
	Normalised Outputs = "normalised"
	Physical   Outputs = "physical"
)

// Server is one protocol on one address. Agent is filled in where a protocol serves one robot and there is only one;
// empty it means all of them.
type Server struct {
	Protocol      string        `yaml:"protocol" required:"true" form:"kind" doc:"osp, odcp, simloid, gamebots, imageserver, player, okon or okon-video."`
	Listen        string        `yaml:"listen" required:"true" form:"address" doc:"HOST:PORT; port 0 is any free one. Another host than loopback lets the network command the robot."`
	Agent         string        `yaml:"agent" otherwise:"all; for odcp, simloid and okon the only one" doc:"The robot it serves."`
	ClientTimeout time.Duration `yaml:"client_timeout" min:"0s" max:"24h" otherwise:"none in lockstep, 2s in realtime; none for simloid, gamebots, imageserver, player and okon" doc:"Silence after which a client's registrations are released; none = never."`
	AckTimeout    time.Duration `yaml:"ack_timeout" min:"1ms" max:"1m" otherwise:"500ms; 30s for simloid" doc:"How long to wait for an acknowledgement before the rig goes on without."`
	Outputs       Outputs       `yaml:"outputs" default:"normalised" enum:"normalised|physical" doc:"OSP outputs and infos. normalised: as its document says. physical: as the original did."`
	Dialect       string        `yaml:"dialect" default:"document" enum:"document|later|original" doc:"document: as the protocol's document says. later: of Simloid from 2018, of USARSim from 2007 on. original: Okon's HIT_NGZ, HIT_FZ, CHK_AP and angularAccel as its simulator sent them."`
	Noise         bool          `yaml:"noise" default:"true" doc:"Simloid's: the noise of its sensors, seeded by world.seed."`
	PID           *[3]float64   `yaml:"pid" otherwise:"those of its robot" doc:"Simloid's: the gains of the original's position controllers, 0..1000."`
	StartTorque   *float64      `yaml:"start_torque" min:"0.001" max:"1" otherwise:"0.5" doc:"Simloid's: the greatest torque of the original's position controllers at the start."`
	KeepState     bool          `yaml:"keep_state" default:"false" doc:"Simloid's: a new client finds a simulated robot as the one before left it, not as at the start."`
	Teleport      bool          `yaml:"teleport" default:"false" doc:"okon: a simulated robot that comes into a no-go or finish zone is put back into a start zone, as the original did."`
	MaxClients    int           `yaml:"max_clients" min:"1" max:"1024" otherwise:"16; 256 of okon" doc:"gamebots, imageserver, player and okon: how many clients at a time; of gamebots each has one robot."`
	Format        string        `yaml:"format" default:"raw" enum:"raw|super|good|normal|average|bad" doc:"imageserver: how pictures go out; all but raw are JPEG, the best first."`
	FrameRate     float64       `yaml:"frame_rate" default:"30" min:"0.1" max:"120" doc:"imageserver: pictures a second, at most."`
	Width         int           `yaml:"width" default:"0" min:"0" max:"4096" doc:"imageserver: of every picture, pixels; 0 = the camera's own."`
	Height        int           `yaml:"height" default:"0" min:"0" max:"4096" doc:"imageserver: of every picture, pixels; 0 = the camera's own."`
}
