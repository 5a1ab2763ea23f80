package assembly

// MachineRoot is where /sys, /proc and /dev of this machine stand; tests have a folder instead.
const MachineRoot = "/"
