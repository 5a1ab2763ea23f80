package hydro

// The file, as it is written. Lengths are metres, masses kilograms, angles degrees where the key says so.

type file struct {
	Name      string         `yaml:"name"`
	Title     string         `yaml:"title"`
	Mass      float64        `yaml:"mass_kg"`
	COM       []float64      `yaml:"com_m"`
	Inertia   []float64      `yaml:"inertia_kgm2"` // xx, yy, zz, or also xy, xz, yz
	Hull      hullFile       `yaml:"hull"`
	Added     addedFile      `yaml:"added_mass"`
	Drag      dragFile       `yaml:"drag"`
	Curve     curveFile      `yaml:"curve"`
	Lag       float64        `yaml:"lag_ms"`
	Propeller float64        `yaml:"propeller_m"`
	Supply    *supplyFile    `yaml:"supply"`
	Thrusters []thrusterFile `yaml:"thrusters"`
	Shapes    []shapeFile    `yaml:"shapes"`
	Cameras   []cameraFile   `yaml:"cameras"`
}

type hullFile struct {
	Volume float64   `yaml:"volume_m3"`
	Centre []float64 `yaml:"centre_m"`
	Box    []float64 `yaml:"box_m"`
	Cells  []int     `yaml:"cells"`
	Ramp   float64   `yaml:"ramp_m"`
}

// addedFile is the diagonal, or all of it row by row.
type addedFile struct {
	Mass    []float64   `yaml:"kg"`
	Inertia []float64   `yaml:"kgm2"`
	Matrix  [][]float64 `yaml:"matrix"`
}

type dragFile struct {
	Law       string    `yaml:"law"` // sum or greater
	At        []float64 `yaml:"at_m"`
	Linear    []float64 `yaml:"linear"`
	Quadratic []float64 `yaml:"quadratic"`
}

// curveFile is pieces of polynomials, or a table of pulse and force.
type curveFile struct {
	Neutral    float64     `yaml:"neutral_us"`
	Span       float64     `yaml:"span_us"`
	Polynomial []pieceFile `yaml:"polynomial"`
	Kgf        [][]float64 `yaml:"table_kgf"`
	Newtons    [][]float64 `yaml:"table_n"`
}

type pieceFile struct {
	From    float64   `yaml:"from_us"`
	To      float64   `yaml:"to_us"`
	Newtons []float64 `yaml:"newtons"` // c0, c1, c2
}

type supplyFile struct {
	Volts    float64 `yaml:"volts"`
	Exponent float64 `yaml:"exponent"`
}

type thrusterFile struct {
	Name string    `yaml:"name"`
	At   []float64 `yaml:"at_m"`
	Yaw  *float64  `yaml:"yaw_deg"` // level, to the left of forward
	Up   bool      `yaml:"up"`
	Axis []float64 `yaml:"axis"`
}

// shapeFile has one of the four solids.
type shapeFile struct {
	Sphere   *float64  `yaml:"sphere"`   // radius
	Capsule  []float64 `yaml:"capsule"`  // radius, length of the straight part
	Box      []float64 `yaml:"box"`      // size along x, y, z
	Cylinder []float64 `yaml:"cylinder"` // radius, length
	At       []float64 `yaml:"at_m"`
	Along    string    `yaml:"along"` // the axis of a capsule or a cylinder: x, y or z
}

type cameraFile struct {
	Name    string    `yaml:"name"`
	At      []float64 `yaml:"at_m"`
	Down    float64   `yaml:"down_deg"`
	Yaw     float64   `yaml:"yaw_deg"`
	View    float64   `yaml:"field_of_view_deg"` // across
	Size    []int     `yaml:"size"`
	Range   []float64 `yaml:"range_m"`
	Depth   bool      `yaml:"depth"`
	Detects bool      `yaml:"detects"`
}
