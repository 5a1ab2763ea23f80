// Package camera renders pictures by ray casting on the CPU: colour, depth, and object detections.
//
//	scene + poses ──► BVH of package ray ──► one ray a pixel ──► paint, light, water ──► hal.Picture
//	                                              └────────────► tally of things ─────► hal.Detection
//
// A Renderer owns the cameras of a scene and the goroutines that render. The cycle pushes a snapshot of the poses, which
// takes a copy and never waits; viewers ask for pictures through hal.ImageStream, and nothing is rendered that nobody asked for.
// Rows are shared out to the workers in any order and give the same picture: nothing of a row depends on another.
//
// # Conventions
//
// SI units, world axes, z up. A camera looks along its own x; y is to the left of the picture, z up in it. Colours are
// red, green, blue from 0 to 1 as screens have them (sRGB); light is reckoned with linearly.
//
// # Water
//
// Light is weakened as e^(-c s) along a way of s metres in water (Beer and Lambert) and by e^(-K d) from the surface
// down to the depth d. On its way a ray gathers what the water scatters into it,
//
//	b E(0) e^(-K d0) (1 - e^(-(c - K dz) s)) / (c - K dz)
//
// from depth d0 in a direction that rises by dz a metre: the integral of b E(depth) e^(-c s). Red goes first, then
// green, so that far things are blue and turbid water is a wall. c is the absorption of pure water (R. Pope and E. Fry,
// Applied Optics 36, 1997, at 650, 550 and 450 nm) and the turbidity, the attenuation by particles. Seen from below, the
// sky fills the cone of Snell's window, and beyond it the surface mirrors the water. Rays are not bent at the surface.
package camera
