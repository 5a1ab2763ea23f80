package model

// The files, as they are written. Lengths are metres, masses kilograms, angles degrees where the key says so.

type file struct {
	Name           string                  `yaml:"name"`
	Title          string                  `yaml:"title"`
	Simloid        *int                    `yaml:"simloid"`
	RangeDeg       []float64               `yaml:"range_deg"`
	Supply         supplyFile              `yaml:"supply"`
	JointDefaults  defaultsFile            `yaml:"joint_defaults"`
	Joints         []jointFile             `yaml:"joints"`
	Passive        []passiveFile           `yaml:"passive"`
	Base           string                  `yaml:"base"` // floating or fixed
	Materials      map[string]materialFile `yaml:"materials"`
	Bodies         []bodyFile              `yaml:"bodies"`
	NoContact      [][]string              `yaml:"no_contact"`
	Accelerometers []accelFile             `yaml:"accelerometers"`
	Sensors        []sensorFile            `yaml:"sensors"`
	Cameras        []cameraFile            `yaml:"cameras"`
	Rescue         *rescueFile             `yaml:"usarsim"`
	Differential   []string                `yaml:"differential"` // two passive joints that turn against each other
}

type supplyFile struct {
	Volts float64 `yaml:"volts"`
	Ohms  float64 `yaml:"ohms"`
}

// defaultsFile is what a joint has that does not say otherwise.
type defaultsFile struct {
	Servo        string          `yaml:"servo"`
	Motor        string          `yaml:"motor"`
	Sign         float64         `yaml:"sign"`
	StartDeg     *float64        `yaml:"start_deg"`
	TorqueFactor float64         `yaml:"torque_factor"`
	Random       jointRandomFile `yaml:"random"`
}

type jointFile struct {
	Name         string    `yaml:"name"`
	Path         string    `yaml:"path"`
	Servo        string    `yaml:"servo"`
	Motor        string    `yaml:"motor"`
	TorqueFactor float64   `yaml:"torque_factor"`
	Modes        []string  `yaml:"modes"`
	LimitsDeg    []float64 `yaml:"limits_deg"`
	RangeDeg     []float64 `yaml:"range_deg"`
	StopsDeg     []float64 `yaml:"stops_deg"`
	DefaultDeg   float64   `yaml:"default_deg"`
	StartDeg     *float64  `yaml:"start_deg"`
	SpreadDeg    float64   `yaml:"start_spread_deg"`
	NoiseDeg     float64   `yaml:"noise_deg"`
	Load         loadFile  `yaml:"load"`
	Wraps        bool      `yaml:"wraps"`
	Mirrors      string    `yaml:"mirrors"`
	Link         linkFile  `yaml:",inline"`
	Ideal        idealFile `yaml:",inline"`
}

// linkFile is where a joint is and what it connects.
type linkFile struct {
	Parent   string          `yaml:"parent"`
	Child    string          `yaml:"child"`
	Anchor   []float64       `yaml:"anchor_m"`
	Axis     []float64       `yaml:"axis"`
	Sign     float64         `yaml:"sign"`
	Damping  float64         `yaml:"damping_nms"`
	Friction float64         `yaml:"friction_nm"`
	Random   jointRandomFile `yaml:"random"`
}

type loadFile struct {
	Inertia  float64 `yaml:"inertia_kgm2"`
	Mass     float64 `yaml:"mass_kg"`
	Length   float64 `yaml:"length_m"`
	DownDeg  float64 `yaml:"down_deg"`
	Damping  float64 `yaml:"damping_nms"`
	Backlash float64 `yaml:"backlash_deg"`
	Source   string  `yaml:"source"`
}

type passiveFile struct {
	Name     string     `yaml:"name"`
	Kind     string     `yaml:"kind"` // hinge, slide or weld
	StopsDeg []float64  `yaml:"stops_deg"`
	StopsM   []float64  `yaml:"stops_m"`
	Mimic    *mimicFile `yaml:"mimic"`
	Link     linkFile   `yaml:",inline"`
}

type mimicFile struct {
	Joint   string   `yaml:"joint"`
	Times   *float64 `yaml:"times"`
	PlusDeg float64  `yaml:"plus_deg"`
	PlusM   float64  `yaml:"plus_m"`
}

type materialFile struct {
	Friction    *float64 `yaml:"friction"` // a coefficient
	Force       *float64 `yaml:"force_n"`  // or a force limit
	Torsion     float64  `yaml:"torsion_m"`
	Rolling     float64  `yaml:"rolling_m"`
	Restitution float64  `yaml:"restitution"`
	Axle        float64  `yaml:"axle"`  // friction along the shape's axis, as a share; 0 = the same
	Glass       bool     `yaml:"glass"` // infrared passes
	Mirror      bool     `yaml:"mirror"`

	Colour  []float64 `yaml:"colour"` // red, green, blue, 0..1
	Second  []float64 `yaml:"second"`
	Pattern string    `yaml:"pattern"` // of both colours: checks or bands
	Size    float64   `yaml:"size_m"`  // of one field of the pattern
}

type bodyFile struct {
	Name     string         `yaml:"name"`
	Position []float64      `yaml:"position_m"`
	Rotation []float64      `yaml:"rotation_deg"`
	Mass     *float64       `yaml:"mass_kg"`
	Density  *float64       `yaml:"density_kgm3"`
	Centre   []float64      `yaml:"com_m"`
	Inertia  []float64      `yaml:"inertia_kgm2"`
	Shapes   []shapeFile    `yaml:"shapes"`
	Random   bodyRandomFile `yaml:"random"`
	Source   string         `yaml:"source"`
}

// shapeFile has one of the four solids, its sizes in m.
type shapeFile struct {
	Sphere   *float64  `yaml:"sphere"`   // radius
	Capsule  []float64 `yaml:"capsule"`  // radius, length of the straight part
	Box      []float64 `yaml:"box"`      // size along x, y, z
	Cylinder []float64 `yaml:"cylinder"` // radius, length
	At       []float64 `yaml:"at_m"`
	Along    string    `yaml:"along"` // the axis of a capsule or a cylinder: x, y or z
	Rotation []float64 `yaml:"rotation_deg"`
	Material string    `yaml:"material"`
	Mass     *float64  `yaml:"mass_kg"`
	Collides *bool     `yaml:"collides"`
}

type accelFile struct {
	Name  string    `yaml:"name"`
	Path  string    `yaml:"path"`
	Body  string    `yaml:"body"`
	At    []float64 `yaml:"at_m"`
	Axes  []string  `yaml:"axes"`
	Range float64   `yaml:"range_g"`
}

// sensorFile is a sensor of any other kind, by default in the middle of its body's frame.
type sensorFile struct {
	Name     string     `yaml:"name"`
	Path     string     `yaml:"path"`
	Kind     string     `yaml:"kind"`
	Body     string     `yaml:"body"`
	At       []float64  `yaml:"at_m"`
	Rotation []float64  `yaml:"rotation_deg"`
	Device   deviceFile `yaml:",inline"`
}

type sceneFile struct {
	Name      string                  `yaml:"name"`
	Title     string                  `yaml:"title"`
	Simloid   *int                    `yaml:"simloid"`
	Materials map[string]materialFile `yaml:"materials"`
	Ground    string                  `yaml:"ground"` // the material of the plane z = 0; none: there is no plane
	Fixed     []shapeFile             `yaml:"fixed"`
	Fields    []fieldFile             `yaml:"fields"`
	Free      []bodyFile              `yaml:"free"`
	Scatter   []scatterFile           `yaml:"scatter"`
	GroundZ   float64                 `yaml:"ground_m"` // where the plane lies instead
	Arena     arenaFile               `yaml:",inline"`
	Water     *waterFile              `yaml:"water"`
	Objects   []objectFile            `yaml:"objects"`
	Course    courseFile              `yaml:"course"`
}

// fieldFile is a height field: either heights row by row, along x first, or a formula with the number of samples.
type fieldFile struct {
	Name     string      `yaml:"name"`
	At       []float64   `yaml:"at_m"`
	Size     []float64   `yaml:"size_m"`
	Heights  [][]float64 `yaml:"heights_m"`
	Formula  string      `yaml:"formula"`
	Samples  []int       `yaml:"samples"`
	Material string      `yaml:"material"`
}

// scatterFile is a number of loose boxes, each of an even random size and place.
type scatterFile struct {
	Name     string    `yaml:"name"`
	Count    int       `yaml:"count"`
	SizeX    []float64 `yaml:"size_x_m"`
	SizeY    []float64 `yaml:"size_y_m"`
	SizeZ    []float64 `yaml:"size_z_m"`
	X        []float64 `yaml:"x_m"`
	Y        []float64 `yaml:"y_m"`
	Z        []float64 `yaml:"z_m"`      // of the underside
	Overhang bool      `yaml:"overhang"` // x and y are moved by up to half the size to both sides
	Density  float64   `yaml:"density_kgm3"`
	Material string    `yaml:"material"`
}
