// SPDX-License-Identifier: BSD-3-Clause
// The names that a sketch finds defined, and the macros that could collide with names in other headers: an
// Arduino core defines them in front of each sketch, so the package's headers must compile behind them. Only
// output has an effect: it is printed.
#pragma once

#include <cstdint>
#include <cstdio>

// States, modes and constants.
#define HIGH 1
#define LOW 0
#define INPUT 0
#define OUTPUT 1
#define INPUT_PULLUP 2
#define PI 3.1415926535897932384626433832795
#define EULER 2.718281828459045235360287471352
#define SERIAL 0
#define DISPLAY 1
#define CHANGE 2
#define FALLING 3
#define RISING 4
#define DEFAULT 0
#define EXTERNAL 1
#define INTERNAL 2
// Binary literals, and functions as macros: short names that C++ code likes to use, too.
#define B0 0
#define B1 1
#define B10 2
#define B11 3
// Strings in flash, and attributes of it, which only some processors need.
#define F(text) text
#define PROGMEM
#define bit(b) (1UL << (b))
#define bitRead(value, bit) (((value) >> (bit)) & 1)
#define constrain(x, low, high) ((x) < (low) ? (low) : ((x) > (high) ? (high) : (x)))
#define degrees(x) ((x) * 57.29577951308232)
#define radians(x) ((x) * 0.017453292519943295)
#define highByte(w) ((uint8_t)((w) >> 8))
#define lowByte(w) ((uint8_t)((w) & 0xff))
// Without interrupts there is nothing to enable.
#define interrupts()
#define noInterrupts()
#define sq(x) ((x) * (x))

// Types of the core; `byte` collides with std::byte where both are visible.
typedef bool boolean;
typedef uint8_t byte;
typedef uint16_t word;

// The serial port prints to standard output.
struct SerialPort {
  void begin(unsigned long) {}
  explicit operator bool() const { return true; }
  void print(const char* text) { std::fputs(text, stdout); }
  void print(int number) { std::printf("%d", number); }
  void println(unsigned long number) { std::printf("%lu\n", number); }
  void println(const char* text) { std::puts(text); }
  void println(double number, int digits) { std::printf("%.*f\n", digits, number); }
};
inline SerialPort Serial;

// A clock that stands still.
inline unsigned long millis() { return 0; }
inline unsigned long micros() { return 0; }
inline void delay(unsigned long) {}

// The sketch defines these; the test's main() calls them.
void setup();
void loop();
