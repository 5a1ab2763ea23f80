// Package gpio drives devices on single lines of a GPIO chip: bumpers, quadrature encoders, PIR motion sensors, the
// HC-SR04 sonar, emergency-stop buttons, headlights, and the OE pin of a PWM board. Measuring devices implement
// drivers.Sensor.
//
// It uses the kernel's character device, /dev/gpiochipN, version 2 (include/uapi/linux/gpio.h,
// Linux 5.10 and later):
//
//	chip node ── GET_CHIPINFO, V2_GET_LINEINFO ──► chip, and users of its lines
//	          ── V2_GET_LINE {offsets, consumer, config} ──► line node
//	line node ── V2_LINE_GET_VALUES, V2_LINE_SET_VALUES {bits, mask}
//	          ── read ──► {timestamp_ns, edge, offset, seqno, line_seqno} ...
//
// Both nodes have the interface Node, which an emulated chip in memory implements with the same bytes. Every device has
// its own line nodes, so that no device waits for another. The kernel allows one user of a line in the whole machine.
// Close releases a line, an output after it was made inert.
//
// Times are the kernel's: each edge has the time stamp of its interrupt (CLOCK_MONOTONIC), and a number, which shows an
// overrun of the kernel's queue. A program that wakes up 50..500 µs late cannot time an echo of 58 µs a centimetre.
//
// Why not the libraries: periph's gpioioctl drops the time stamp of an edge, so that an echo reads 180 cm and 8 cm
// alternately (periph conn issue 37). Its wait for an edge has no defined meaning of 0 and -1 (host issue 78), and its
// import opens every chip of the machine. go-gpiocdev has the time stamps, but its types work only with a real chip.
// The driver needs only five requests of the interface.
//
// Why no servo pulses on GPIO: a program toggles a line 50..500 µs late, and a servo's whole range is 1000 µs. A kernel
// with the pwm-gpio driver (Linux 6.11) does it in a timer interrupt and offers it as kernel-pwm.
package gpio
