// Package camera renders pictures by ray casting on the CPU: colour, depth, and object detections.
//
//	scene + poses ──► BVH of package ray ──► one ray a pixel ──► paint, light, water ──► hal.Picture
//	                                              └────────────► tally of things ─────► hal.Detection
//
// A Renderer owns the cameras of a scene and the goroutines that render. The cycle pushes a snapshot of the poses,
// which copies them and never waits. Viewers request pictures through hal.ImageStream; only requested pictures are
// rendered. Workers render the rows in any order with the same result: rows do not depend on each other.
//
// # Conventions
//
// SI units, world axes, z up. A camera looks along its own x; y is to the left of the picture, z up in it. Colours are
// red, green, blue from 0 to 1 in sRGB; light is computed in linear values.
//
// # Water
//
// Light is attenuated by e^(-c s) along a path of s metres in water (Beer and Lambert) and by e^(-K d) from the surface
// down to the depth d. On its path a ray collects the light that the water scatters into it,
//
//	b E(0) e^(-K d0) (1 - e^(-(c - K dz) s)) / (c - K dz)
//
// from depth d0 in a direction that rises by dz a metre: the integral of b E(depth) e^(-c s). Red is absorbed first,
// then green, so distant objects are blue and turbid water hides them. c is the sum of the absorption of pure water (R.
// Pope and E. Fry, Applied Optics 36, 1997, at 650, 550 and 450 nm) and the turbidity, the attenuation by particles.
// Seen from below, the sky fills the cone of Snell's window, and beyond it the surface mirrors the water. Rays are not
// bent at the surface.
package camera
