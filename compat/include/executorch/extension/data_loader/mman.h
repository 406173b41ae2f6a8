// SPDX-License-Identifier: BSD-3-Clause
// Hides differences between systems that map files; this build supports POSIX.
#pragma once

#include <cstddef>
#include <cstdint>

#include <executorch/runtime/platform/compiler.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

ET_INLINE size_t get_os_page_size() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

// Returns a negative value on failure.
ET_INLINE int get_file_stat(int fd, size_t* out_size) {
  struct stat status{};
  const int result = ::fstat(fd, &status);
  if (result >= 0) *out_size = static_cast<size_t>(status.st_size);
  return result;
}

ET_INLINE off_t get_mmap_offset(size_t offset) { return static_cast<off_t>(offset); }

ET_INLINE void madvise_pages_willneed_sequential(void* address, size_t length) {
  static_cast<void>(::madvise(address, length, MADV_WILLNEED));
  static_cast<void>(::madvise(address, length, MADV_SEQUENTIAL));
}

ET_INLINE void fcntl_rdadvise_apple(int, size_t) {}
