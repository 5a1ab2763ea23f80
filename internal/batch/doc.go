// Package batch steps many copies of a rig concurrently on all cores, for learning and for searching: the same config,
// a seed each, actions and observations as one array a step. A copy is a whole rig, with its guard, its servo models
// and their latency and noise, so that a policy learnt on copies can drive the rig itself. Copies share no state: the
// results are the same on any number of cores.
package batch
