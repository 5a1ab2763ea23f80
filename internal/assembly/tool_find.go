package assembly

// AllProtocols are every protocol in the order in which they are asked. Kondo comes first: parity alone keeps its servos
// from taking parts of others' packets for commands, which a pseudo terminal does not carry. Feetech servos are found by
// protocol 1.0.
func AllProtocols() []int {
	return []int{AsKondo, 2, 1, AsHiwonder}
}
