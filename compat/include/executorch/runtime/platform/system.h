// SPDX-License-Identifier: BSD-3-Clause
// Finds the shared library of an address, if ET_USE_LIBDL says that the system can. The macro is the
// including code's: without it the header needs no libdl, and its function is a constant.
#pragma once

#ifdef ET_USE_LIBDL
#include <dlfcn.h>
#endif

// Results instead of a path, in builds without ET_USE_LIBDL and for an address outside of every library.
// Compare the text: the constants have internal linkage.
static constexpr const char* DYNAMIC_LIBRARY_NOT_SUPPORTED = "NOT_SUPPORTED";
static constexpr const char* DYNAMIC_LIBRARY_NOT_FOUND = "NOT_FOUND";

extern "C" {

// The path of the library or executable that contains `address`, as the dynamic linker knows it (it may be
// relative), or one of the constants; never null. The text belongs to the dynamic linker and is valid as long
// as the library is loaded.
inline const char* et_pal_get_shared_library_name(const void* address) {
#ifdef ET_USE_LIBDL
  Dl_info info;
  const bool found = dladdr(address, &info) != 0 && info.dli_fname != nullptr;
  return found ? info.dli_fname : DYNAMIC_LIBRARY_NOT_FOUND;
#else
  static_cast<void>(address);
  static_cast<void>(DYNAMIC_LIBRARY_NOT_FOUND);
  return DYNAMIC_LIBRARY_NOT_SUPPORTED;
#endif
}
}
