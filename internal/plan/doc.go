// Package plan resolves a config against the catalog: every name in it becomes what it means. A plan opens nothing; all
// faults come together.
package plan
