// Package plan resolves the names of a config against the catalog. It opens nothing and reports all errors together.
package plan
