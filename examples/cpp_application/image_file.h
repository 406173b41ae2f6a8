// SPDX-License-Identifier: BSD-3-Clause
// Reads small grayscale images: numbers in a .csv file, or a .pgm file of the Netpbm formats P2 and P5.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "runtime/base/result.h"

// Prints the message on a line of stderr, and returns `code`.
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
rushlight::Error
fail(rushlight::Error code, const char* format, ...);

// Reads exactly `count` pixels, row by row. Pixels of a .pgm file are divided by its maximum, so that white
// is 1; values of a .csv file are used unchanged. Errors, each printed: AccessFailed (no such file),
// InvalidArgument (another format or size).
rushlight::Result<std::vector<float>> read_image(const std::string& path, size_t count);
