// Package report formats results: tables for people, data for programs.
package report
