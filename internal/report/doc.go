// Package report holds what results share that are data for programs and a table for people.
package report
