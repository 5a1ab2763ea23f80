package adc

// INA219Address is the first of its sixteen addresses, by the pins A1 and A0.
const INA219Address = 0x40
