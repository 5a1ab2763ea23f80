// Package gpio drives devices on single lines of a GPIO chip: bumpers, quadrature encoders, PIR motion sensors, the HC-SR04
// sonar, emergency-stop buttons, headlights, and the OE pin of a PWM board. Those that measure implement drivers.Sensor.
//
// It uses the kernel's character device, /dev/gpiochipN, version 2 (include/uapi/linux/gpio.h,
// Linux 5.10 and later):
//
//	chip node ── GET_CHIPINFO, V2_GET_LINEINFO ──► who is there, and who holds a line
//	          ── V2_GET_LINE {offsets, consumer, config} ──► line node
//	line node ── V2_LINE_GET_VALUES, V2_LINE_SET_VALUES {bits, mask}
//	          ── read ──► {timestamp_ns, edge, offset, seqno, line_seqno} ...
//
// Both nodes are the interface Node, which an emulated chip in memory satisfies too, from the same bytes. Every device has
// line nodes of its own, so that no device waits for another; a line has one holder in the whole machine, the kernel sees to
// that. A line is given back at Close, an output after it was made inert.
//
// Time is the kernel's: each edge has the stamp of its interrupt (CLOCK_MONOTONIC), and a number, by which it is seen when
// the kernel's queue ran over. An echo of 58 µs a centimetre cannot be timed by a program that wakes up 50..500 µs late.
//
// Why not the libraries: periph's gpioioctl reads the stamp of an edge and drops it, so that an echo reads 180 cm and 8 cm in
// turns (periph conn issue 37), its wait for an edge has no certain meaning of 0 and -1 (host issue 78), and it opens every
// chip of the machine when it is imported. go-gpiocdev has the stamps, but behind types of its own that nothing but a real
// chip can be behind. What is needed of the interface is five requests.
//
// Why no pulses for servos from here: a program that toggles a line does so 50..500 µs late, where a servo's whole range is
// 1000 µs. A kernel that has the pwm-gpio driver (Linux 6.11) does it from a timer interrupt and shows it as kernel-pwm.
package gpio
