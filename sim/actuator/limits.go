package actuator

import "math"

// Free is the model's speed without load at full drive and the nominal voltage, rad/s, friction included.
func (k *Spec) Free() float64 {
	r := k.resistance(k.MaxDuty)
	full := Drive{k.Kt * k.MaxDuty * k.NominalVolts / r, k.Kt * k.Kt / r}
	return root(full.Torque/full.Damping, func(speed float64) float64 {
		motor := full.at(speed)
		dry, viscous := k.Friction.Bound(motor, 0, speed)
		return motor - dry - float64(viscous*speed)
	})
}

// Stall is the greatest load that the model turns against from rest at full drive and the nominal voltage, N·m.
func (k *Spec) Stall() float64 {
	motor := k.Kt * k.MaxDuty * k.NominalVolts / k.resistance(k.MaxDuty)
	return root(motor, func(load float64) float64 {
		dry, _ := k.Friction.Bound(motor, -load, 0)
		return motor - load - dry
	})
}

// root is where f, which falls, passes 0 within 0..high; the nearer end where it does not.
func root(high float64, f func(float64) float64) float64 {
	low := 0.0
	for range 40 {
		if mid := (low + high) / 2; f(mid) > 0 {
			low = mid
		} else {
			high = mid
		}
	}
	return math.Max(high, 1e-9)
}
