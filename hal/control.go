package hal

import (
	"fmt"
	"slices"
	"time"
)

// controlEvents are the events of the cycle itself, under the names of the original simulator (ORCS).
type controlEvents struct {
	nextStep, stepCompleted, reset, resetDone, tryCompleted, emergencyStop EventID
}

// declareControl declares the events and values of the cycle. Events of the original that cannot occur here are
// declared too: a client may register for them and never receives them.
func (r *Rig) declareControl() {
	e := r.events
	r.known = controlEvents{
		nextStep:      e.Declare("/Control/NextStep"),
		stepCompleted: e.Declare("/Control/StepCompleted"),
		reset:         e.Declare("/Control/ResetSimulation"),
		resetDone:     e.Declare("/Control/ResetSimulationFinalized"),
		tryCompleted:  e.Declare("/Control/TryCompleted"),
		emergencyStop: e.Declare("/Control/EmergencyStop"),
	}
	for _, name := range []string{
		"SystemInit", "SystemInitCompleted", "SystemBind", "SystemShutDown", "PendingTasksExecuted", "PreStepCompleted",
		"ResetSimulationSettings", "ResetSimulationSettingsCompleted", "NextTry", "NextIndividual",
		"IndividualCompleted", "TerminateTry",
	} {
		e.Declare("/Control/" + name)
	}
	e.Declare("/Simulation/PhysicsEnvironmentChanged")

	v := r.values
	v.Declare("/Control/CurrentStep", IntValue, func() Value { return Value{Kind: IntValue, Int: int64(r.step)} }, nil)
	v.Declare("/Simulation/TotalSteps", IntValue, func() Value { return Value{Kind: IntValue, Int: int64(r.total)} },
		nil)
	r.declareCount("/Control/NumberOfSteps", &r.steps)
	r.declareCount("/Control/NumberOfTries", &r.tries)
	v.Declare("/Control/Pause", BoolValue, func() Value { return Value{Kind: BoolValue, Bool: r.paused} }, r.setPause)
	v.Declare("/Simulation/Seed", IntValue, func() Value { return Value{Kind: IntValue, Int: r.seed} },
		func(x Value) error { r.seed = x.Int; return nil })
	v.Declare("/Simulation/TimeStepSize", DoubleValue,
		func() Value { return Value{Kind: DoubleValue, Double: r.config.Period.Seconds()} }, r.setPeriod)
	v.Declare("/Simulation/RunAtRealtime", BoolValue,
		func() Value { return Value{Kind: BoolValue, Bool: r.config.Mode == Realtime || r.leases == 0} }, nil)
	v.Declare("/Performance/StepsPerSecond", DoubleValue,
		func() Value { return Value{Kind: DoubleValue, Double: r.rate.hertz} }, nil)
}

// declareCount declares a number that is not below 0.
func (r *Rig) declareCount(name string, at *int64) {
	r.values.Declare(name, IntValue, func() Value { return Value{Kind: IntValue, Int: *at} }, func(x Value) error {
		if x.Int < 0 {
			return fmt.Errorf("%s: got %d, want 0 or more", name, x.Int)
		}
		*at = x.Int
		return nil
	})
}

// setPause stops time. A real robot does not stop existing, so that its rig does not pause.
func (r *Rig) setPause(x Value) error {
	for _, a := range r.agents {
		if x.Bool && a.bodyKind == Real {
			return fmt.Errorf("pause: %s is real: got true, want false", a.name)
		}
	}
	r.paused = x.Bool
	r.changed.Broadcast()
	r.runPending()
	return nil
}

// setPeriod changes the length of a cycle of virtual time.
func (r *Rig) setPeriod(x Value) error {
	const shortest, longest = 100e-6, 1.0 // s
	if r.config.Mode != Lockstep {
		return fmt.Errorf("time step: the clock is real: %w", ErrReadOnly)
	}
	if !(x.Double >= shortest && x.Double <= longest) {
		return fmt.Errorf("time step: got %g s, want %g..%g", x.Double, shortest, longest)
	}
	r.config.Period = time.Duration(x.Double * float64(time.Second))
	r.period.Store(int64(r.config.Period))
	return nil
}

// declareAgent declares an agent's measured channels and last commands as values, "/humanoid/left_elbow/position". It
// also declares an event for a fault of each of its devices, "/humanoid/left_elbow/Fault", for its end,
// ".../Recovered", and for each state of its guard; the state is a value too, "/humanoid/State".
func (r *Rig) declareAgent(a *Agent) {
	a.faulty, a.faults = make([]EventID, a.layout.Devices()), make([]EventID, a.layout.Devices())
	a.returns = make([]EventID, a.layout.Devices())
	for i := range a.faults {
		a.faults[i] = r.events.Declare("/" + a.name + "/" + a.device(i) + "/Fault")
		a.returns[i] = r.events.Declare("/" + a.name + "/" + a.device(i) + "/Recovered")
	}
	for i, state := range [...]string{"Armed", "Disarmed", "Stopped", "Expired"} {
		a.states[i] = r.events.Declare("/" + a.name + "/" + state)
	}
	r.values.Declare("/"+a.name+"/State", StringValue,
		func() Value { return Value{Kind: StringValue, Text: a.State().String()} }, nil)
	for i := range a.shown.Measured {
		r.values.Declare("/"+a.name+"/"+a.layout.Measured(i).Name, InterfaceValue,
			func() Value { return Value{Kind: InterfaceValue, Double: a.shown.Measured[i]} }, nil)
	}
	for i := range a.frame.Inputs {
		name := "/" + a.name + "/" + a.layout.Inputs[i].Name + "_goal"
		r.values.Declare(name, InterfaceValue,
			func() Value { return Value{Kind: InterfaceValue, Double: a.frame.Inputs[i]} }, nil)
	}
}

// Lasting reports whether e is the event of a state that lasts: of an agent's guard, or of a fault of its devices. A
// client that asks for such an event later would wait for one that has been.
func (r *Rig) Lasting(e EventID) bool {
	r.lock()
	defer r.mu.Unlock()
	for _, a := range r.agents {
		if state := a.State(); int(state) < len(a.states) && a.states[state] == e {
			return true
		}
		if i := slices.Index(a.faults, e); i >= 0 {
			return a.faulty[i] != 0 || i < len(a.odd) && a.odd[i]
		}
	}
	return false
}
