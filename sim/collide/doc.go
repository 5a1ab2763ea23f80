// Package collide finds contacts between shapes; it computes geometry, not forces.
//
// A Space holds geoms, each a shape fixed to a body of package dynamics or to the world. Once a step the owner calls
// Move for each body and Find, or Update with all poses, and reads Contacts. The steps from poses to contacts:
//
//	poses -> frames and boxes in world axes -> sweep along one axis -> pairs in order -> one function per pair of kinds -> contacts
//
// The result depends only on the poses: data from earlier steps is used only for speed, so a restored state gives the
// same bits. Contacts are ordered by geom A, then by geom B, then by the order in which the pair's function finds them.
// A is always the geom with the smaller index. No memory is allocated after New.
//
// Units are SI: m and rad. World axes are right-handed, z up. Every product is rounded before an addition (see package
// exact), so the bits do not depend on the processor.
//
// Sources, cited as [E], [B]:
//
//	[E] Christer Ericson, Real-Time Collision Detection, 2005
//	[B] Gino van den Bergen, Collision Detection in Interactive 3D Environments, 2003
package collide
