// SPDX-License-Identifier: BSD-3-Clause
// Files and terminal of the machine that drives the run: POSIX on Linux, semihosting on bare metal. Only
// runner/ and module/ use them; the layers from base to executor never open a file.
#pragma once

#include <cstddef>

namespace rushlight::platform {

// Write creates the file or truncates it.
enum class FileMode { Read, Write };

// Opens the file at `path` and returns its handle, or -1 on failure. The caller closes it.
[[nodiscard]] int file_open(const char* path, FileMode mode);
// Size of an open file in bytes, or -1 on failure.
[[nodiscard]] long file_size(int file);
// Transfer up to `size` bytes at the current position and return the number of bytes transferred. It is less
// than `size` only at the end of the file or on failure.
[[nodiscard]] size_t file_read(int file, void* data, size_t size);
[[nodiscard]] size_t file_write(int file, const void* data, size_t size);
void file_close(int file);

// Writes `text` (ends with a zero byte) and a line break to the user's terminal.
void print_line(const char* text);

}  // namespace rushlight::platform
