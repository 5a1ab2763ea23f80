//go:build !linux

package main

func dieOnSignal(string) {}
