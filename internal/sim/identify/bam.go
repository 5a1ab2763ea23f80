package identify

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/yaml"
	"github.com/halyard-robotics/halyard/sim/actuator"
)

// bamFile is a parameter file of BAM (github.com/Rhoban/bam, params/SERVO/mN.json). Pointers distinguish a missing
// number from zero.
type bamFile struct {
	Kt       *float64 `json:"kt"`
	R        *float64 `json:"R"`
	Armature *float64 `json:"armature"`
	Offset   float64  `json:"q_offset"`
	Base     *float64 `json:"friction_base"`
	Viscous  *float64 `json:"friction_viscous"`
	Stribeck float64  `json:"friction_stribeck"`
	Load     float64  `json:"load_friction_base"`
	LoadS    float64  `json:"load_friction_stribeck"`
	Motor    float64  `json:"load_friction_motor"`
	External float64  `json:"load_friction_external"`
	MotorS   float64  `json:"load_friction_motor_stribeck"`
	ExternS  float64  `json:"load_friction_external_stribeck"`
	MotorQ   float64  `json:"load_friction_motor_quad"`
	ExternQ  float64  `json:"load_friction_external_quad"`
	Dqs      float64  `json:"dtheta_stribeck"`
	Alpha    float64  `json:"alpha"`
	Model    string   `json:"model"`
	Actuator string   `json:"actuator"`
}

// ParseBAM reads a parameter file of BAM, which faults call source. name is the servo's; "" is the one that the file
// names.
func ParseBAM(data []byte, source, name string) (*Servo, error) {
	bad := func(format string, args ...any) error {
		return &hal.Error{Kind: hal.Invalid, Op: "read parameters " + source, Err: fmt.Errorf(format, args...)}
	}
	var f bamFile
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, bad("got no JSON object of numbers: %v", err)
	}
	for _, p := range []struct {
		key   string
		value *float64
	}{{"kt", f.Kt}, {"R", f.R}, {"armature", f.Armature}, {"friction_base", f.Base}, {"friction_viscous", f.Viscous}} {
		if p.value == nil {
			return nil, bad("%s: got none, want a number: is it a parameter file of BAM?", p.key)
		}
	}
	if len(f.Model) != 2 || f.Model[0] != 'm' || f.Model[1] < '1' || f.Model[1] > '6' {
		return nil, bad("model: got %q, want m1 to m6", f.Model)
	}
	if name == "" {
		name = f.Actuator
		if models := recorders[strings.ToLower(f.Actuator)]; len(models) > 0 {
			name = models[0]
		}
	}
	spec, ok := actuator.Lookup(name)
	if !ok {
		return nil, bad("actuator: got %q, want a servo that is known%s", name, yaml.Meant(name, actuator.Names()))
	}
	s := &Servo{Model: name, Spec: *spec, Bench: Bench{ArmOffset: f.Offset}}
	k := &s.Spec
	k.Kt, k.R, k.Armature, k.Droop, k.Fit = *f.Kt, *f.R, *f.Armature, 0, "BAM "+strings.ToUpper(f.Model)
	k.Friction = actuator.Friction{Model: int(f.Model[1] - '0'), Kb: *f.Base, Kv: *f.Viscous, Ks: f.Stribeck,
		Kl: f.Load, Kls: f.LoadS, Km: f.Motor, Ke: f.External,
		Kms: f.MotorS, Kes: f.ExternS, Kmq: f.MotorQ, Keq: f.ExternQ, Dqs: f.Dqs, Alpha: f.Alpha}
	if _, err := ParseServo(s.Encode(), source); err != nil { // the same bounds
		return nil, err
	}
	return s, nil
}

// EncodeBAM is s as a parameter file of BAM. lost are the parameters that BAM's models do not have.
func (s *Servo) EncodeBAM() (data []byte, lost []string, err error) {
	k, n := &s.Spec, &s.Spec.Friction
	f := bamFile{Kt: &k.Kt, R: &k.R, Armature: &k.Armature, Offset: s.Bench.ArmOffset, Base: &n.Kb, Viscous: &n.Kv,
		Stribeck: n.Ks, Load: n.Kl, LoadS: n.Kls, Motor: n.Km, External: n.Ke, MotorS: n.Kms, ExternS: n.Kes,
		MotorQ: n.Kmq, ExternQ: n.Keq, Dqs: n.Dqs, Alpha: n.Alpha, Model: fmt.Sprintf("m%d", n.Model),
		Actuator: s.Model}
	for name, models := range recorders {
		if models[0] == s.Model && (f.Actuator == s.Model || name < f.Actuator) {
			f.Actuator = name
		}
	}
	if k.Droop != 0 {
		lost = append(lost, "droop")
	}
	if n.Kq != 0 {
		lost = append(lost, "Kq")
	}
	data, err = json.MarshalIndent(&f, "", "    ")
	return append(data, '\n'), lost, err
}
