package hydro

// The file, as it is written. Lengths are metres, masses kilograms, angles degrees where the key says so. The limits
// are far beyond any vehicle, so that products of values stay finite.

type file struct {
	Name  string     `yaml:"name" required:"true" form:"lower"`
	Title string     `yaml:"title"`
	Mass  float64    `yaml:"mass_kg" required:"true" min:"1e-3" max:"1e6"`
	COM   [3]float64 `yaml:"com_m" min:"-100" max:"100"`
	// xx, yy, zz, or also xy, xz, yz
	Inertia   []float64      `yaml:"inertia_kgm2" required:"true" min:"-1e6" max:"1e6"`
	Hull      hullFile       `yaml:"hull" required:"true"`
	Added     addedFile      `yaml:"added_mass"`
	Drag      dragFile       `yaml:"drag" required:"true"`
	Curve     curveFile      `yaml:"curve" required:"true"`
	Lag       float64        `yaml:"lag_ms" min:"0" max:"1e4"`
	Propeller float64        `yaml:"propeller_m" min:"0" max:"100"`
	Supply    *supplyFile    `yaml:"supply"`
	Thrusters []thrusterFile `yaml:"thrusters" count:"64" unique:"name"`
	Shapes    []shapeFile    `yaml:"shapes" count:"64"`
	Cameras   []cameraFile   `yaml:"cameras" count:"64" unique:"name"`
}

type hullFile struct {
	Volume float64     `yaml:"volume_m3" min:"0" max:"1e6"`
	Centre [3]float64  `yaml:"centre_m" min:"-100" max:"100"`
	Box    *[3]float64 `yaml:"box_m" required:"without ramp_m" min:"1e-3" max:"100"`
	Cells  *[3]int     `yaml:"cells" required:"without ramp_m" min:"1" max:"32"`
	Ramp   *float64    `yaml:"ramp_m" min:"1e-3" max:"100"`
}

// addedFile is the diagonal, or all of it row by row.
type addedFile struct {
	Mass    [3]float64     `yaml:"kg" min:"0" max:"1e6"`
	Inertia [3]float64     `yaml:"kgm2" min:"0" max:"1e6"`
	Matrix  *[6][6]float64 `yaml:"matrix" of:"rows of 6 numbers" min:"-1e6" max:"1e6"`
}

type dragFile struct {
	Law       string     `yaml:"law" required:"true" enum:"sum|greater"`
	At        [3]float64 `yaml:"at_m" min:"-100" max:"100"`
	Linear    [6]float64 `yaml:"linear" required:"true" min:"0" max:"1e6"`
	Quadratic [6]float64 `yaml:"quadratic" required:"true" min:"0" max:"1e6"`
}

// curveFile is pieces of polynomials, or a table of pulse and force.
type curveFile struct {
	Neutral    float64      `yaml:"neutral_us" required:"true" min:"1" max:"1e5"`
	Span       float64      `yaml:"span_us" required:"true" min:"1" max:"1e5"`
	Polynomial []pieceFile  `yaml:"polynomial" count:"64"`
	Kgf        [][2]float64 `yaml:"table_kgf" count:"64" min:"-1e6" max:"1e6"`
	Newtons    [][2]float64 `yaml:"table_n" count:"64" min:"-1e6" max:"1e6"`
}

type pieceFile struct {
	From    float64    `yaml:"from_us" max:"1e5"`
	To      float64    `yaml:"to_us" max:"1e5"`
	Newtons [3]float64 `yaml:"newtons" required:"true" min:"-1e6" max:"1e6"` // c0, c1, c2
}

type supplyFile struct {
	Volts    float64 `yaml:"volts" required:"true" min:"0.1" max:"1e3"`
	Exponent float64 `yaml:"exponent" min:"0" max:"4"`
}

type thrusterFile struct {
	Name string      `yaml:"name" required:"true" form:"lower"`
	At   [3]float64  `yaml:"at_m" min:"-100" max:"100"`
	Yaw  *float64    `yaml:"yaw_deg" min:"-360" max:"360"` // level, to the left of forward
	Up   bool        `yaml:"up"`
	Axis *[3]float64 `yaml:"axis" min:"-100" max:"100"`
}

// shapeFile has one of the four solids.
type shapeFile struct {
	Sphere   *float64    `yaml:"sphere"`                     // radius
	Capsule  *[2]float64 `yaml:"capsule" min:"0" max:"100"`  // radius, length of the straight part
	Box      *[3]float64 `yaml:"box" min:"0" max:"100"`      // size along x, y, z
	Cylinder *[2]float64 `yaml:"cylinder" min:"0" max:"100"` // radius, length
	At       [3]float64  `yaml:"at_m" min:"-100" max:"100"`
	Along    string      `yaml:"along" default:"z" enum:"x|y|z"` // the axis of a capsule or a cylinder
}

type cameraFile struct {
	Name    string     `yaml:"name" required:"true" form:"lower"`
	At      [3]float64 `yaml:"at_m" min:"-100" max:"100"`
	Down    float64    `yaml:"down_deg" min:"-90" max:"90"`
	Yaw     float64    `yaml:"yaw_deg" min:"-360" max:"360"`
	View    float64    `yaml:"field_of_view_deg" required:"true" min:"1" max:"170"` // across
	Size    [2]int     `yaml:"size" required:"true" min:"1" max:"4096"`
	Range   [2]float64 `yaml:"range_m" required:"true" min:"0" max:"1e5"`
	Depth   bool       `yaml:"depth"`
	Detects bool       `yaml:"detects"`
}
