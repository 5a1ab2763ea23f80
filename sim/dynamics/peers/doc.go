// Package peers has the models by which physics engines are compared here, and runs them: a chain of n links let go from
// the horizontal, a four-legged robot that squats and a humanoid that stands under PD control, and a heap of loose boxes.
// Their definitions, and the figures of Bullet, DART, MuJoCo and ODE, are in docs/; the step is 1 ms, without damping,
// joint friction or sleep.
package peers
