// Package actuator simulates geared DC servos, physics and firmware, one Servo per joint:
//
//	goal ─► profile ─► control law ─► duty ─► bridge ─► motor ─► gear ─────────► backlash ─► load
//	          (firmware.go)                  (motor.go)  armature, friction      (gear.go)
//	             ▲                              │ current ─► supply, heat, alarms      │
//	             └───────────── encoder ────────┴──────────────────────────────────────┘
//
// All torques, speeds and inertias are those of the output shaft. The motor is BAM's (arXiv 2410.08650): with the
// voltage U on its terminals its torque is kt·U/R - kt²·ω/R; the friction of the gear is one of BAM's models M1 to M6.
//
// Step is semi-implicit: the back-EMF and all viscous friction are evaluated at the end of the step, and dry friction
// is the torque that stops the shaft, clipped to its bound. So a step of 1 ms is stable for any small inertia, and a
// shaft at rest below the bound stays exactly in place. A step does not allocate and gives the same bits on every
// machine: it uses only exact functions of package math, and no product is fused with a sum (see package exact).
//
// A multibody engine calls the three parts of Step itself: Control for the motor's torque as a function of speed,
// Friction for the bound of a dry-friction row, and FinishStep with the result.
package actuator
