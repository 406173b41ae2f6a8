// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <stdint.h>

extern "C" {
// Ticks of the platform's clock; ticks_to_ns() (platform/clock.h) converts a difference to nanoseconds.
typedef uint64_t et_timestamp_t;
}
