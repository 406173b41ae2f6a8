// SPDX-License-Identifier: BSD-3-Clause
// The names of an Arduino core that the sketch uses.
#pragma once

#include "../packages/Arduino.h"

#define LED_BUILTIN 13

inline void pinMode(int, int) {}
void digitalWrite(int pin, int level);
