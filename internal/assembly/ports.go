package assembly

// MachineRoot contains /sys, /proc and /dev of this machine; tests use a folder instead.
const MachineRoot = "/"
