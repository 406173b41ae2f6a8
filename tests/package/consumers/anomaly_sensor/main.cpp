// SPDX-License-Identifier: BSD-3-Clause
// sketch SAMPLES WINDOWS: runs the sketch with an ADXL345 that measures what a file holds, int16 x, y, z.
// Each turn of loop() is followed by the state of the LED.
#include <cstdio>
#include <cstdlib>

#include "SPI.h"
#include "core.h"

namespace {

std::FILE* samples = nullptr;
uint8_t registers[64] = {0xE5};
int address = -1;  // register of the next byte; below 0: the next byte is an address
bool reads = false, several = false, is_led_on = false;

constexpr int kRate = 0x2C, kPower = 0x2D, kInterrupts = 0x30, kFormat = 0x31, kData = 0x32;

// Measures the next sample, once the device is set up as the model was trained.
void measure() {
  if (registers[kRate] != 0x0E || registers[kFormat] != 0x0B || registers[kPower] != 0x08) return;
  if (std::fread(registers + kData, 6, 1, samples) != 1) std::exit(3);
  registers[kInterrupts] = 0x80;
}

}  // namespace

void digitalWrite(int pin, int level) {
  if (pin == LED_BUILTIN) {
    is_led_on = level == HIGH;
  } else {
    address = -1;
  }
}

uint8_t SPIClass::transfer(uint8_t sent) {
  if (address < 0) {
    address = sent & 0x3F;
    reads = (sent & 0x80) != 0;
    several = (sent & 0x40) != 0;
    if (reads && address == kInterrupts) measure();
    return 0;
  }
  const int at = address;
  if (several) ++address;
  if (!reads) registers[at] = sent;
  return reads ? registers[at] : 0;
}

int main(int argc, char** argv) {
  if (argc != 3 || (samples = std::fopen(argv[1], "rb")) == nullptr) return 2;
  setup();
  for (int i = std::atoi(argv[2]); i > 0; --i) {
    loop();
    std::printf("led %d\n", is_led_on ? 1 : 0);
  }
  return std::fclose(samples);
}
