// Package hal is the vocabulary of Halyard and its cycle: what a robot offers (Layout), what passes in one cycle
// (Frame), what moves (Body), what time passes in (World), who commands (Agent and its lease), what stands between
// every command and every body (Guard), and what runs it all (Rig). It imports the standard library alone.
//
// One cycle, in this order, whatever the bodies are made of:
//
//	controllers set inputs ─► autopilots ─► guards ─► every Body.Write ─► every Bus.Send ─► every World.Advance
//	        ▲                                                                                      │
//	        └────────────────────────── observers ◄── every Body.Read ◄── every Bus.Receive ◄──────┘
//
// In real time a cycle begins at each tick of the wall clock, so that what was said between two ticks is done at the
// second and measured beside it; in lock-step it begins when everybody has asked for it.
//
// All quantities are SI with angles in radians; temperatures alone are in °C. NaN in an input means "no command",
// NaN in a measured value "not known".
package hal
