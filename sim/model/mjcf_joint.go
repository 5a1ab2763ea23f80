package model

import (
	"math"
	"slices"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/xml"
	"github.com/halyard-robotics/halyard/internal/yaml"
)

// mjcfActuators are the elements of <actuator> that have the attributes of <general>.
var mjcfActuators = map[string]bool{"general": true, "motor": true, "position": true, "velocity": true,
	"intvelocity": true, "damper": true, "cylinder": true}

// mjcfSpeed is the greatest speed of an MJCF's motors, rad/s or m/s: the format has none, and this is that of the fast
// ones in legs.
const mjcfSpeed = 30

// sensorPart is a sensor of a part.
type sensorPart struct {
	at         yaml.Place
	name, kind string
	part       string
	pose       hal.Pose // in the part's frame
	device     *Device
}

// couple reads <equality>: a joint that follows another, as fingers do.
func (r *mjcfReader) couple(root *xml.Node) {
	for _, section := range root.All("equality") {
		for _, n := range section.Children {
			kind := n.Name
			e := *n
			e.Name = "equality" // of the defaults
			n = r.resolve(&e, "")
			if n.Name = kind; n.Get("active") == "false" {
				continue
			}
			if p, k := r.axisOf(n.Get("joint1")); n.Name == "joint" && n.Get("joint2") == "" && p != nil {
				at := p.axes[k].reference() + r.first(n, "polycoef", 0)
				r.note(r.place(n), jointPath(n.Get("joint1")), "fixed at %g by an equality", at)
				r.fix(n.Get("joint1"), at)
				continue
			}
			if n.Name != "joint" || n.Get("joint2") == "" {
				r.leftOut("equality "+n.Name, n)
				continue
			}
			p, k := r.axisOf(n.Get("joint1"))
			l, i := r.axisOf(n.Get("joint2"))
			if p == nil || l == nil {
				r.lost(n, n.Get("joint1"), p == nil)
				r.lost(n, n.Get("joint2"), l == nil)
				continue
			}
			c := append(r.numbers(n, "polycoef", 0), 0, 0, 0, 0, 0)
			if _, ok := n.Attr("polycoef"); !ok {
				c[1] = 1
			}
			if c[2] != 0 || c[3] != 0 || c[4] != 0 {
				r.note(r.place(n), "equality.polycoef", "got %s: its first two numbers count",
					yaml.Quote(n.Get("polycoef")))
			}
			a, leader := &p.axes[k], &l.axes[i]
			if c[1] == 0 || a.name == leader.name || l.follows(r.description, a.name) {
				r.note(r.place(n), "equality.joint", "%s is left free", yaml.Quote(a.name))
				continue
			}
			// q - ref = c₀ + c₁ (q' - ref')
			a.follows = &follow{leader.name, c[1], c[0] + a.reference() - c[1]*leader.reference()}
		}
	}
}

// reference is the position in which the file draws an axis.
func (a *axis) reference() float64 {
	if a.start != nil {
		return *a.start
	}
	return 0
}

// follows reports whether an axis of the part follows, perhaps by others, the one called name.
func (p *part) follows(d *description, name string) bool {
	for i := range p.axes {
		a := &p.axes[i]
		for range maxJoints {
			if a.follows == nil {
				break
			}
			if a.follows.leader == name {
				return true
			}
			q, k := d.axisOf(a.follows.leader)
			if q == nil {
				break
			}
			a = &q.axes[k]
		}
	}
	return false
}

// lost reports a joint that is not there; one of a tree that was left out is none. A free joint has no motor here.
func (r *mjcfReader) lost(n *xml.Node, joint string, is bool) {
	i := slices.IndexFunc(r.order, func(o mjcfPosition) bool { return o.axis == joint })
	if i >= 0 && r.order[i].count > 1 {
		r.note(r.place(n), jointPath(joint), "an actuator of a free joint: left out")
	} else if is && i < 0 {
		r.fault(r.place(n), yaml.Path(n.Name+".joint"), "got %s, want the name of a joint", yaml.Quote(joint))
	}
}

// actuate reads <tendon> and <actuator>. Where there is no actuator, each joint gets a motor.
func (r *mjcfReader) actuate(root *xml.Node) {
	for _, section := range root.All("tendon") {
		for _, n := range section.Children {
			if n.Name != "fixed" {
				r.leftOut("tendon "+n.Name, n)
				continue
			}
			for _, j := range n.All("joint") {
				r.tendons[n.Get("name")] = append(r.tendons[n.Get("name")],
					mjcfCoef{j.Get("joint"), r.number(j, "coef", 0)})
			}
		}
	}
	any := false
	for _, section := range root.All("actuator") {
		for _, n := range section.Children {
			any = true
			if mjcfActuators[n.Name] {
				r.actuator(r.resolve(n, ""))
			} else {
				r.leftOut(n.Name, n)
			}
		}
	}
	for i := range r.parts {
		for k := range r.parts[i].axes {
			a := &r.parts[i].axes[k]
			if !any && a.kind != Ball && a.follows == nil {
				r.drives = append(r.drives, drive{axis: a.name})
			}
		}
	}
	if !any {
		r.note(r.place(root), "actuator", "no actuators: each joint gets a motor")
	}
	r.release()
}

// release frees the joints that follow one without a motor.
func (r *mjcfReader) release() {
	for i := range r.parts {
		for k := range r.parts[i].axes {
			a := &r.parts[i].axes[k]
			last := a
			for range maxJoints {
				if last.follows == nil {
					break
				}
				p, n := r.axisOf(last.follows.leader)
				if p == nil {
					break
				}
				last = &p.axes[n]
			}
			if a.follows != nil && r.driveOf(last.name) == nil {
				r.note(a.at, jointPath(a.name), "it follows %s, which has no actuator: it is left free",
					yaml.Quote(last.name))
				a.follows = nil
			}
		}
	}
}

// actuator reads an actuator of a joint or a fixed tendon.
func (r *mjcfReader) actuator(n *xml.Node) {
	name := n.Get("joint")
	if name == "" {
		name = n.Get("jointinparent")
	}
	coefs := []mjcfCoef{{name, 1}}
	if t := n.Get("tendon"); name == "" && t != "" {
		coefs = r.tendons[t]
	}
	if len(coefs) == 0 || coefs[0].joint == "" {
		r.leftOut("actuator of a site, body or spatial tendon", n)
		return
	}
	p, k := r.axisOf(coefs[0].joint)
	if p == nil {
		r.lost(n, coefs[0].joint, !slices.ContainsFunc(r.order, func(o mjcfPosition) bool { return o.count == 4 }))
		return
	}
	a := &p.axes[k]
	if a.kind == Ball {
		r.note(r.place(n), jointPath(a.name), "an actuator of a ball joint: left out")
		return
	}
	if f := a.follows; f != nil {
		if r.driveOf(f.leader) != nil {
			r.note(r.place(n), jointPath(a.name), "it follows %s: its own actuator is left out", yaml.Quote(f.leader))
			return
		}
		r.lead(a)
	}
	coef := math.Max(1e-9, math.Abs(coefs[0].coef))
	m := r.driveOf(a.name)
	if m == nil {
		r.drives = append(r.drives, drive{axis: a.name, velocity: mjcfSpeed})
		m = &r.drives[len(r.drives)-1]
		defer r.tie(n, a, coefs)
	}
	m.torque = math.Max(m.torque, r.force(n, a)*coef)
	kp, kd, ratio := r.gains(n)
	m.kp, m.kd, m.ratio = math.Max(m.kp, kp*coef*coef), m.kd+kd*coef*coef, math.Max(m.ratio, ratio)
}

// tie makes the other joints of a tendon follow the first one, a.
func (r *mjcfReader) tie(n *xml.Node, a *axis, coefs []mjcfCoef) {
	for _, c := range coefs[1:] {
		if q, i := r.axisOf(c.joint); q != nil && q.axes[i].follows == nil && r.driveOf(c.joint) == nil &&
			c.coef != 0 && coefs[0].coef != 0 {
			q.axes[i].follows = &follow{a.name, c.coef / coefs[0].coef, 0}
			r.note(r.place(n), jointPath(c.joint), "it moves with %s by the tendon %s", yaml.Quote(a.name),
				yaml.Quote(n.Get("tendon")))
		}
	}
}

// lead turns a coupling round: the joint with the actuator leads.
func (r *mjcfReader) lead(a *axis) {
	f := a.follows
	p, k := r.axisOf(f.leader)
	if p != nil && p.axes[k].follows == nil {
		p.axes[k].follows = &follow{a.name, 1 / f.times, -f.plus / f.times}
	}
	a.follows = nil
}

// gains are those of an actuator's position or velocity controller on its joint, as Motor has them, and the ratio of
// critical damping where the file sets that in place of kd.
func (r *mjcfReader) gains(n *xml.Node) (kp, kd, ratio float64) {
	gear := r.first(n, "gear", 1)
	switch n.Name {
	case "position":
		kp, kd, ratio = r.first(n, "kp", 1), r.first(n, "kv", 0), r.first(n, "dampratio", 0)
	case "cylinder":
		if v := r.numbers(n, "bias", 3); v != nil {
			kp, kd = math.Max(0, -v[1]), math.Max(0, -v[2])
		}
	case "intvelocity":
		kp, kd = r.first(n, "kp", 1), r.first(n, "kv", 0)
	case "velocity":
		kd = r.first(n, "kv", 1)
	case "general":
		if v := r.numbers(n, "biasprm", 0); n.Get("biastype") == "affine" && len(v) > 1 {
			if kp = math.Max(0, -v[1]); len(v) > 2 {
				// MuJoCo takes a positive third number for a ratio of damping.
				kd, ratio = math.Max(0, -v[2]), math.Max(0, v[2])
			}
		}
	}
	return kp * gear * gear, kd * gear * gear, ratio
}

// first is the first number of an attribute, or otherwise where it is absent.
func (r *mjcfReader) first(n *xml.Node, name string, otherwise float64) float64 {
	if v := r.numbers(n, name, 1); v != nil {
		return v[0]
	}
	return otherwise
}

// force is the greatest torque of an actuator, N·m or N; 0 where the file sets no bound.
func (r *mjcfReader) force(n *xml.Node, a *axis) float64 {
	most := math.Inf(1)
	limited := func(what string) []float64 {
		v := r.numbers(n, what+"range", 2)
		if n.Get(what+"limited") == "false" || v == nil || v[0] >= v[1] {
			return nil
		}
		return v
	}
	reach := func(v []float64) float64 { return math.Max(math.Abs(v[0]), math.Abs(v[1])) }
	if v := limited("force"); v != nil {
		most = reach(v)
	}
	gain, servo := r.first(n, "gainprm", 1), n.Get("biastype") == "affine"
	switch n.Name {
	case "position", "intvelocity":
		gain, servo = r.first(n, "kp", 1), true
	case "velocity", "damper":
		gain, servo = r.first(n, "kv", 1), true
	case "cylinder":
		if gain = r.first(n, "area", 1); n.Get("diameter") != "" {
			d := r.first(n, "diameter", 1)
			gain = math.Pi / 4 * d * d
		}
	}
	gear := math.Abs(r.first(n, "gear", 1))
	switch v := limited("ctrl"); {
	case servo && math.IsInf(most, 1):
		// What the gain makes of the greatest error that the joint's range allows.
		span := math.Pi
		if a.limits != nil && a.limits[1]-a.limits[0] < 2*math.Pi {
			span = a.limits[1] - a.limits[0]
		}
		most = math.Abs(gain) * gear * span
	case !servo && v != nil:
		most = math.Min(most, math.Abs(gain)*reach(v))
	}
	if a.force > 0 {
		return math.Min(most*gear, a.force)
	}
	if math.IsInf(most, 1) {
		return 0
	}
	return math.Min(most*gear, maxForce)
}

// sense reads <sensor>: those at one site that an inertial sensor has are one, and a touch is a contact.
func (r *mjcfReader) sense(root *xml.Node) {
	at := map[string]int{}
	for _, section := range root.All("sensor") {
		for _, n := range section.Children {
			site, kind := n.Get("site"), ""
			switch n.Name {
			case "accelerometer":
				kind = "imu"
			case "framequat":
				if site, kind = n.Get("objname"), "imu"; n.Get("objtype") != "site" {
					kind = ""
				}
			case "gyro":
				kind = "gyro"
			case "touch":
				kind = "contact"
			case "force":
				kind = "force"
			case "jointpos", "jointvel", "actuatorpos", "actuatorvel", "actuatorfrc", "jointactuatorfrc", "ballquat",
				"ballangvel":
				continue // joints are measured
			}
			s, ok := r.sites[site]
			if p, _ := r.partOf(s.part); kind == "" || !ok || p == nil {
				r.leftOut("sensor "+n.Name, n)
				continue
			}
			group := "inertial " + site
			if kind == "contact" || kind == "force" {
				group = kind + " " + site
			}
			if i, ok := at[group]; ok {
				if kind == "imu" {
					r.sensors[i].kind = kind
				}
				continue
			}
			name := n.Get("name")
			if group == "inertial "+site {
				name = site
			}
			if name == "" {
				name = r.unnamed(n.Name)
			}
			at[group] = len(r.sensors)
			r.sensors = append(r.sensors, sensorPart{r.place(n), name, kind, s.part, s.pose, nil})
		}
	}
}
