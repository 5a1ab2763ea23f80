// Package identify finds the parameters of a servo from recordings: torque constant, resistance, inertia, friction,
// droop, latency and play. It simulates package actuator's own servo, the one that moves simulated robots, on a
// pendulum of known mass, and changes the parameters until the simulated positions are the recorded ones.
//
//	Read ─► Run ─► Fit ─► Servo ─► Encode ─► servo.yaml ─► ReadServo ─► actuator.Spec
//	                │
//	                ├ search.go    CMA-ES, then Gauss-Newton with damping
//	                ├ choose.go    which friction model: by runs that the fit has not seen
//	                ├ prior.go     what the data sheet says where the recordings do not
//	                ├ interval.go  by the likelihood, with errors as lasting as the recordings'
//	                ├ reach.go     what the recordings hold: beyond it a servo is not identified
//	                ├ design.go    which motions would tell more
//	                └ separate.go  which parameters the recordings cannot separate
//
// All functions are deterministic: the random numbers come from fixed seeds. Nothing here reads a clock or a device.
package identify
