// SPDX-License-Identifier: BSD-3-Clause
// Arduino's SPI with one device on it, see main.cpp.
#pragma once

#include <cstdint>

// The sensor's mode of transfer; the simulation ignores it.
enum BitOrder { MSBFIRST };
#define SPI_MODE3 3

struct SPISettings {
  SPISettings(uint32_t, BitOrder, int) {}
};

// Transfers go to the simulated sensor, one byte in each direction.
struct SPIClass {
  void begin() {}
  void beginTransaction(SPISettings) {}
  void endTransaction() {}
  uint8_t transfer(uint8_t sent);
};
inline SPIClass SPI;
