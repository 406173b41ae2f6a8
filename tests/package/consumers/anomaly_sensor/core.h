// SPDX-License-Identifier: BSD-3-Clause
// Stands in for an Arduino core: its names, and pins whose changes main.cpp observes.
#pragma once

#include "../packages/Arduino.h"

#define LED_BUILTIN 13

inline void pinMode(int, int) {}
void digitalWrite(int pin, int level);
