// Package host lists the adapters of this computer, their stable names, permissions and the processes that use them.
package host
