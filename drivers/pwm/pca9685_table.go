package pwm

// PCA9685Address is the first of its addresses, by the pins A5..A0.
const PCA9685Address = 0x40

// PCA9685Channels is how many outputs it has.
const PCA9685Channels = 16

// PCA9685Oscillator is the internal oscillator's frequency by the datasheet, Hz. Real ones run at 23 to 27 MHz: pulses
// are wrong by as much until it is measured.
const PCA9685Oscillator = 25e6
