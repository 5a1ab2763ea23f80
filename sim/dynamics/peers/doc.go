// Package peers holds the two models by which physics engines are compared here, and runs them: a chain of n links
// let go from the horizontal, and a four-legged robot that squats under PD control. Their definitions, and the figures of
// Bullet, DART, MuJoCo and ODE for them, are in docs/; the step is 1 ms, without damping, friction or sleep.
package peers
