package actuator

import "math"

// Drive is the motor's action during one step: at the speed ω its torque on the output shaft is Torque - Damping·ω. A
// motor on a voltage has kt²/R of damping from its back-EMF; one on a current source has none. The zero Drive is a
// motor with open leads.
type Drive struct {
	Torque  float64 // N·m
	Damping float64 // N·m·s/rad
}

// at is the torque at speed velocity.
func (d Drive) at(velocity float64) float64 { return d.Torque - float64(d.Damping*velocity) }

// bridge is the firmware's command to the bridge for one step.
type bridge uint8

const (
	open    bridge = iota // all switches off: the motor coasts
	dark                  // too little voltage: likewise, and the processor is down
	voltage               // Servo.Duty of the supply; 0 brakes
	current               // Servo.Current; Servo.Duty is the duty for it
)

// onVoltage drives the motor with duty, bounded by limit (0..1), the PWM limit and the bridge. If the servo limits its
// current, it is at most maxCurrent, A; 0 = no such limit.
func (s *Servo) onVoltage(duty, limit, maxCurrent, volts float64) Drive {
	k := s.Spec
	most := min(k.MaxDuty, limit, s.DutyLimit)
	s.Duty = clamp(duty, -most, most)
	if maxCurrent > 0 {
		if amps := s.sensed(s.windingCurrent(volts), s.Duty); math.Abs(amps) > maxCurrent {
			return s.onCurrent(math.Copysign(maxCurrent, amps), most, volts)
		}
	}
	s.bridge = voltage
	r := k.resistance(s.Duty)
	return Drive{Torque: k.Kt * s.Duty * volts / r, Damping: k.Kt * k.Kt / r}
}

// onCurrent regulates the current to amps, as the servo measures it, as far as a duty of at most most can.
func (s *Servo) onCurrent(amps, most, volts float64) Drive {
	k := s.Spec
	emf := float64(k.Kt * s.gearVelocity)
	duty := 0.0
	if k.SupplyCurrent {
		// The supply's current is duty·(duty·V - emf)/(R + Droop·duty²); of its two solutions the one that pushes to
		// the side of amps.
		left := volts - float64(k.Droop*math.Abs(amps))
		root := math.Sqrt(math.Max(0, float64(emf*emf)+float64(4*left*k.R*math.Abs(amps))))
		if amps != 0 && left > 0 {
			duty = (emf + math.Copysign(root, amps)) / (2 * left)
		} else if amps != 0 {
			duty = math.Copysign(1, amps)
		}
		amps = (float64(duty*volts) - emf) / k.resistance(duty)
	} else {
		duty = k.dutyFor(amps, emf, volts)
	}
	if math.Abs(duty) > most {
		return s.onVoltage(duty, most, 0, volts)
	}
	s.bridge, s.Duty, s.Current = current, duty, amps
	return Drive{Torque: float64(k.Kt * amps)}
}

// windingCurrent is the current at the present duty and speed, A.
func (s *Servo) windingCurrent(volts float64) float64 {
	return (float64(s.Duty*volts) - float64(s.Spec.Kt*s.gearVelocity)) / s.Spec.resistance(s.Duty)
}

// resistance is that of winding and supply together at a duty, Ω.
func (k *Spec) resistance(duty float64) float64 { return k.R + float64(k.Droop*duty*duty) }

// dutyFor is the duty at which amps flow against the back-EMF emf at volts: the smaller solution of
// amps·(R + Droop·duty²) = duty·volts - emf; beyond the greatest current that is possible, the duty of that.
func (k *Spec) dutyFor(amps, emf, volts float64) float64 {
	if !(volts > 0) {
		return 0
	}
	needs := float64(amps*k.R) + emf
	if a := float64(amps * k.Droop); a != 0 {
		root := math.Sqrt(math.Max(0, float64(volts*volts)-float64(4*a*needs)))
		return 2 * needs / (volts + root)
	}
	return needs / volts
}

// sensed is the servo's measurement of a winding current: some servos measure the supply current.
func (s *Servo) sensed(amps, duty float64) float64 {
	if s.Spec.SupplyCurrent {
		return amps * math.Abs(duty)
	}
	return amps
}

// MeasuredTorque is the torque that the servo's own sensor stands for, N·m, by the data sheet's figures; NaN where it
// has none. Friction is in it.
func (s *Servo) MeasuredTorque() float64 {
	switch k := s.Spec; k.Senses {
	case sensesDuty:
		return k.StallTorque * s.Duty
	case sensesCurrent:
		return k.StallTorque / k.StallCurrent * s.MeasuredCurrent()
	}
	return math.NaN()
}

// MeasuredCurrent is the current measured by the servo's own sensor, A, positive with rising ticks.
func (s *Servo) MeasuredCurrent() float64 { return s.sensed(s.Current, s.Duty) }

func clamp(x, low, high float64) float64 { return max(low, min(high, x)) }
