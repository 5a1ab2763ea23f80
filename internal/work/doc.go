// Package work spreads rollouts over processes and machines by a NATS JetStream work queue.
//
// A Rollout is a seed, a number of steps and the actions: a table, or a small network that computes them from the
// observations. Its Result is what was observed. A submitter stores the config with all its files in the queue,
// publishes the rollouts and waits for the results. Workers need nothing but the address of the queue.
//
// In JetStream a queue NAME is
//
//	NAME_jobs       stream, work-queue retention: the rollouts that have no result yet, on subjects NAME.job.KEY; a second one of
//	                the same key is refused while the first is there
//	NAME_results    key-value bucket: one result a key. A result is created, never replaced: the first one counts
//	NAME_rigs       object store: each config with its files, by its SHA-256
//
// Each rollout has one result by its key, even if processes die. A worker sends heartbeats while it steps; after Lost
// without one the rollout is given to another worker. A worker acknowledges a rollout after its result is stored; one
// that is delivered again after that is acknowledged without another run. Results do not depend on the worker: they are
// the same bit for bit on any number of workers and machines with the same version of Halyard.
package work
