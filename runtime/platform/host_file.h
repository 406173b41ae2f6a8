// SPDX-License-Identifier: BSD-3-Clause
// Files and arguments of the machine that drives the run: POSIX on Linux, semihosting on bare metal.
// For runner/ and module/ only; base to executor never open a file.
#pragma once

#include <cstddef>

namespace rushlight::platform {

enum class FileMode { Read, Write };

// Handles are non-negative; -1 says that the call failed.
[[nodiscard]] int file_open(const char* path, FileMode mode);
[[nodiscard]] long file_size(int file);
// Bytes moved, fewer than `size` only at the end of the file or on failure.
[[nodiscard]] size_t file_read(int file, void* data, size_t size);
[[nodiscard]] size_t file_write(int file, const void* data, size_t size);
void file_close(int file);

// One line to the user's terminal; `text` ends with a zero byte, the line break is added.
void print_line(const char* text);

}  // namespace rushlight::platform
