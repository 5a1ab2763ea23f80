// Package peers has the models for the comparison of physics engines, and runs them: a chain of n links released from
// the horizontal, a squatting four-legged robot and a standing humanoid under PD control, and a heap of loose boxes.
// Their definitions, and the results of Bullet, DART, MuJoCo and ODE, are in docs/. The step is 1 ms, without damping,
// joint friction or sleep.
package peers
