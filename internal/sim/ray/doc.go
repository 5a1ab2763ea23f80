// Package ray casts rays at the shapes of package collide: for lasers, sonars and cameras.
//
// A BVH holds the geoms in two flat trees, one for the world's, built once, and one for those of bodies, whose boxes
// Update fits to the poses of the step. Planes, which have no box, are in an additional list. Between updates any
// number of goroutines may cast. No memory is allocated after New. Hits depend only on the geoms and poses; of two hits
// at the same distance that of the lower geom counts.
//
// A ray hits a surface from both sides: one that starts inside a solid hits its far side, and the hit reports that. A
// sensor excludes its own housing by a mask.
//
// Units are m and rad, world axes. Products are rounded before they are added (see package exact).
//
// Sources, cited as [W], [K], [A], [P]:
//
//	[W] Ingo Wald, On fast Construction of SAH-based Bounding Volume Hierarchies, 2007
//	[K] Timothy Kay and James Kajiya, Ray Tracing Complex Scenes, 1986
//	[A] John Amanatides and Andrew Woo, A Fast Voxel Traversal Algorithm for Ray Tracing, 1987
//	[P] Matt Pharr, Wenzel Jakob, Greg Humphreys, Physically Based Rendering, 3rd edition, 2016
package ray
