package model

// The files, as they are written. Lengths are metres, masses kilograms, angles degrees where the key says so. The
// limits are far beyond any robot, so that products of values stay finite; a real robot has dozens of links.

type file struct {
	Name           string                  `yaml:"name" required:"true" form:"lower"`
	Title          string                  `yaml:"title"`
	Simloid        *int                    `yaml:"simloid" min:"0" max:"999"`
	RangeDeg       *[2]float64             `yaml:"range_deg" order:"<" min:"-92160" max:"92160"`
	Supply         *supplyFile             `yaml:"supply"`
	Supplies       map[string]supplyFile   `yaml:"supplies" count:"64"`
	JointDefaults  defaultsFile            `yaml:"joint_defaults"`
	Joints         []jointFile             `yaml:"joints" required:"true" count:"1024" unique:"name"`
	Passive        []passiveFile           `yaml:"passive" count:"1024" unique:"name"`
	Base           string                  `yaml:"base" default:"floating" enum:"floating|fixed"`
	Materials      map[string]materialFile `yaml:"materials"`
	Bodies         []bodyFile              `yaml:"bodies" count:"1024" unique:"name"`
	NoContact      [][2]string             `yaml:"no_contact" of:"names of bodies" count:"1024"`
	Accelerometers []accelFile             `yaml:"accelerometers" count:"1024" unique:"name"`
	Sensors        []sensorFile            `yaml:"sensors" count:"1024" unique:"name"`
	Cameras        []cameraFile            `yaml:"cameras" count:"1024" unique:"name"`
	Rescue         *rescueFile             `yaml:"usarsim"`
	// that turn against each other
	Differential *[2]string `yaml:"differential" of:"names of passive joints"`
}

type supplyFile struct {
	Volts float64 `yaml:"volts" required:"true" min:"1" max:"60"`
	Ohms  float64 `yaml:"ohms" min:"0" max:"100"`
}

// defaultsFile holds the defaults of joints.
type defaultsFile struct {
	Servo        string          `yaml:"servo"`
	Motor        string          `yaml:"motor"`
	Sign         float64         `yaml:"sign" enum:"1|-1"`
	StartDeg     *float64        `yaml:"start_deg"`
	TorqueFactor *float64        `yaml:"torque_factor" above:"0" max:"1000"`
	Random       jointRandomFile `yaml:"random"`
}

type jointFile struct {
	Name         string      `yaml:"name" required:"true" form:"lower"`
	Path         string      `yaml:"path"`
	Servo        string      `yaml:"servo"`
	Supply       string      `yaml:"supply"` // of supplies
	Motor        string      `yaml:"motor"`
	TorqueFactor *float64    `yaml:"torque_factor" above:"0" max:"1000"`
	Modes        []string    `yaml:"modes"`
	LimitsDeg    *[2]float64 `yaml:"limits_deg" order:"<" min:"-92160" max:"92160"`
	RangeDeg     *[2]float64 `yaml:"range_deg" order:"<" min:"-92160" max:"92160"`
	StopsDeg     *[2]float64 `yaml:"stops_deg" order:"<" min:"-92160" max:"92160"`
	DefaultDeg   float64     `yaml:"default_deg"`
	StartDeg     *float64    `yaml:"start_deg"`
	SpreadDeg    float64     `yaml:"start_spread_deg" min:"0" max:"180"`
	NoiseDeg     float64     `yaml:"noise_deg" min:"0" max:"10"`
	Load         loadFile    `yaml:"load"`
	Wraps        bool        `yaml:"wraps"`
	Mirrors      string      `yaml:"mirrors"`
	Link         linkFile    `yaml:",inline"`
	Ideal        idealFile   `yaml:",inline"`
}

// linkFile is the position of a joint and the bodies that it connects.
type linkFile struct {
	Parent   string          `yaml:"parent"`
	Child    string          `yaml:"child"`
	Anchor   *[3]float64     `yaml:"anchor_m" min:"-1e4" max:"1e4"`
	Axis     *[3]float64     `yaml:"axis" min:"-1e4" max:"1e4"`
	Sign     float64         `yaml:"sign" enum:"1|-1"`
	Damping  float64         `yaml:"damping_nms" min:"0" max:"1e6"`
	Friction float64         `yaml:"friction_nm" min:"0" max:"1e6"`
	Random   jointRandomFile `yaml:"random"`
}

type loadFile struct {
	Inertia  float64 `yaml:"inertia_kgm2" min:"0" max:"100"`
	Mass     float64 `yaml:"mass_kg" min:"0" max:"100"`
	Length   float64 `yaml:"length_m" min:"0" max:"10"`
	DownDeg  float64 `yaml:"down_deg" min:"-360" max:"360"`
	Damping  float64 `yaml:"damping_nms" min:"0" max:"1000"`
	Backlash float64 `yaml:"backlash_deg" min:"0" max:"20"`
	Source   string  `yaml:"source"`
}

type passiveFile struct {
	Name     string      `yaml:"name" required:"true" form:"lower"`
	Kind     string      `yaml:"kind" default:"hinge" enum:"hinge|slide|weld"`
	StopsDeg *[2]float64 `yaml:"stops_deg" order:"<" min:"-92160" max:"92160"`
	StopsM   *[2]float64 `yaml:"stops_m" order:"<" min:"-1e4" max:"1e4"`
	Mimic    *mimicFile  `yaml:"mimic"`
	Link     linkFile    `yaml:",inline"`
}

type mimicFile struct {
	Joint   string  `yaml:"joint"`
	Times   float64 `yaml:"times" default:"1" min:"-1e3" max:"1e3"`
	PlusDeg float64 `yaml:"plus_deg" min:"-3600" max:"3600"`
	PlusM   float64 `yaml:"plus_m" min:"-1e4" max:"1e4"`
}

type materialFile struct {
	Friction    *float64 `yaml:"friction" required:"without force_n" min:"0" max:"1e6"` // a coefficient
	Force       *float64 `yaml:"force_n" min:"0" max:"+Inf"`                            // or a force limit
	Torsion     float64  `yaml:"torsion_m" min:"0" max:"10"`
	Rolling     float64  `yaml:"rolling_m" min:"0" max:"10"`
	Restitution float64  `yaml:"restitution" min:"0" max:"1"`
	Axle        float64  `yaml:"axle" min:"0" max:"100"` // friction along the shape's axis, as a share; 0 = the same
	Glass       bool     `yaml:"glass"`                  // infrared passes
	Mirror      bool     `yaml:"mirror"`

	Colour  *[3]float64 `yaml:"colour" required:"with pattern" min:"0" max:"1"` // red, green, blue
	Second  *[3]float64 `yaml:"second" required:"with pattern" min:"0" max:"1"`
	Pattern string      `yaml:"pattern" enum:"checks|bands"` // of both colours
	Size    float64     `yaml:"size_m" required:"with pattern" min:"1e-3" max:"1e4"`
}

type bodyFile struct {
	Name     string         `yaml:"name" required:"true" form:"lower"`
	Position [3]float64     `yaml:"position_m" min:"-1e4" max:"1e4"`
	Rotation [3]float64     `yaml:"rotation_deg" min:"-360" max:"360"`
	Mass     *float64       `yaml:"mass_kg" min:"0" max:"1e6"`
	Density  *float64       `yaml:"density_kgm3" above:"0" max:"1e5"`
	Centre   *[3]float64    `yaml:"com_m" min:"-1e4" max:"1e4"`
	Inertia  []float64      `yaml:"inertia_kgm2"`
	Shapes   []shapeFile    `yaml:"shapes" count:"64"`
	Random   bodyRandomFile `yaml:"random"`
	Source   string         `yaml:"source"`
}

// shapeFile has one of the four solids, its sizes in m.
type shapeFile struct {
	Sphere   *float64    `yaml:"sphere" above:"0" max:"1e4"`   // radius
	Capsule  *[2]float64 `yaml:"capsule" above:"0" max:"1e4"`  // radius, length of the straight part
	Box      *[3]float64 `yaml:"box" above:"0" max:"1e4"`      // size along x, y, z
	Cylinder *[2]float64 `yaml:"cylinder" above:"0" max:"1e4"` // radius, length
	At       [3]float64  `yaml:"at_m" min:"-1e4" max:"1e4"`
	Along    string      `yaml:"along" enum:"x|y|z"` // the axis of a capsule or a cylinder; z where left out
	Rotation [3]float64  `yaml:"rotation_deg" min:"-360" max:"360"`
	Material string      `yaml:"material"`
	Mass     *float64    `yaml:"mass_kg" min:"0" max:"1e6"`
	Collides bool        `yaml:"collides" default:"true"`
}

type accelFile struct {
	Name  string     `yaml:"name" required:"true" form:"lower"`
	Path  string     `yaml:"path"`
	Body  string     `yaml:"body"`
	At    [3]float64 `yaml:"at_m" min:"-1e4" max:"1e4"`
	Axes  []string   `yaml:"axes" required:"true" count:"3" enum:"+x|-x|+y|-y|+z|-z"`
	Range float64    `yaml:"range_g" min:"0" max:"1e6"`
	// Constant is Simloid's: it measures standard gravity, also in a world without.
	Constant bool `yaml:"constant_gravity"`
}

// sensorFile is a sensor of any other kind, by default in the middle of its body's frame.
type sensorFile struct {
	Name     string     `yaml:"name" required:"true" form:"lower"`
	Path     string     `yaml:"path"`
	Kind     string     `yaml:"kind"`
	Message  string     `yaml:"message" enum:"GroundTruth|INS|GPS"`
	Body     string     `yaml:"body"`
	At       [3]float64 `yaml:"at_m" min:"-1e4" max:"1e4"`
	Rotation [3]float64 `yaml:"rotation_deg" min:"-360" max:"360"`
	Device   deviceFile `yaml:",inline"`
}

type sceneFile struct {
	Name      string                  `yaml:"name" required:"true" form:"lower"`
	Title     string                  `yaml:"title"`
	Simloid   *int                    `yaml:"simloid" min:"0" max:"999"`
	Materials map[string]materialFile `yaml:"materials"`
	Ground    string                  `yaml:"ground"` // the material of the plane z = 0; none: no plane
	Fixed     []shapeFile             `yaml:"fixed" count:"4096"`
	Fields    []fieldFile             `yaml:"fields" count:"64"`
	Free      []bodyFile              `yaml:"free" count:"4096" unique:"name"`
	Scatter   []scatterFile           `yaml:"scatter" count:"64" unique:"name"`
	GroundZ   float64                 `yaml:"ground_m" min:"-1e4" max:"1e4"` // where the plane lies instead
	Arena     arenaFile               `yaml:",inline"`
	Water     *waterFile              `yaml:"water"`
	Objects   []objectFile            `yaml:"objects" count:"1024" unique:"name"`
	Course    courseFile              `yaml:"course"`
}

// fieldFile is a height field: either heights row by row, along x first, or a formula with the number of samples.
type fieldFile struct {
	Name     string      `yaml:"name"`
	At       [3]float64  `yaml:"at_m" min:"-1e4" max:"1e4"`
	Size     [2]float64  `yaml:"size_m" required:"true" above:"0" max:"1e4"`
	Heights  [][]float64 `yaml:"heights_m" count:"1024" min:"-1e4" max:"1e4"`
	Formula  string      `yaml:"formula" required:"without heights_m" enum:"cosine-hills"`
	Samples  [2]int      `yaml:"samples" required:"with formula" min:"2" max:"1024"`
	Material string      `yaml:"material"`
}

// scatterFile is a number of loose boxes, each of an even random size and place.
type scatterFile struct {
	Name  string     `yaml:"name" required:"true" form:"lower"`
	Count int        `yaml:"count" required:"true" min:"1" max:"4096"`
	SizeX [2]float64 `yaml:"size_x_m" required:"true" order:"<=" min:"1e-4" max:"1e4"`
	SizeY [2]float64 `yaml:"size_y_m" required:"true" order:"<=" min:"1e-4" max:"1e4"`
	SizeZ [2]float64 `yaml:"size_z_m" required:"true" order:"<=" min:"1e-4" max:"1e4"`
	X     [2]float64 `yaml:"x_m" required:"true" order:"<=" min:"-1e4" max:"1e4"`
	Y     [2]float64 `yaml:"y_m" required:"true" order:"<=" min:"-1e4" max:"1e4"`
	Z     [2]float64 `yaml:"z_m" required:"true" order:"<=" min:"-1e4" max:"1e4"` // of the underside
	// x and y are moved by up to half the size to both sides
	Overhang bool    `yaml:"overhang"`
	Density  float64 `yaml:"density_kgm3" required:"true" above:"0" max:"1e5"`
	Material string  `yaml:"material"`
}
