// SPDX-License-Identifier: BSD-3-Clause
// Hides differences between systems that map files; this build supports POSIX. For applications that include
// it: rushlight itself calls mmap directly.
#pragma once

#include <cstddef>
#include <cstdint>

#include <executorch/runtime/platform/compiler.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

// The size of a page in bytes, of which offsets of mappings are multiples.
ET_INLINE size_t get_os_page_size() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

// Writes the size of an open file, in bytes. Returns a negative value on failure, and then writes nothing.
ET_INLINE int get_file_stat(int fd, size_t* out_size) {
  struct stat status{};
  const int result = ::fstat(fd, &status);
  if (result >= 0) *out_size = static_cast<size_t>(status.st_size);
  return result;
}

// The offset in the type of mmap()'s last parameter.
ET_INLINE off_t get_mmap_offset(size_t offset) { return static_cast<off_t>(offset); }

// Asks the system to read pages ahead; failure has no effect.
ET_INLINE void madvise_pages_willneed_sequential(void* address, size_t length) {
  static_cast<void>(::madvise(address, length, MADV_WILLNEED));
  static_cast<void>(::madvise(address, length, MADV_SEQUENTIAL));
}

// Has no effect except on Apple's systems, which this build does not support.
ET_INLINE void fcntl_rdadvise_apple(int, size_t) {}
