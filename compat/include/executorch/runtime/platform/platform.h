// SPDX-License-Identifier: BSD-3-Clause
// Platform functions that an application may replace: by defining et_pal_ functions, which override the weak
// ones here at link time, or at run time by register_pal(). The default is rushlight's platform layer
// (runtime/platform/platform.h).
//
//   void to_my_log(et_timestamp_t, et_pal_log_level_t level, const char* file, const char*, size_t line,
//                  const char* message, size_t length) { ... }
//   static const bool registered = register_pal(PalImpl::create(to_my_log, __FILE__));
//
// The runtime's official side calls the pal_ functions at the end. rushlight's own code calls its platform
// layer directly, so a replaced et_pal_emit_log_message() receives the lines of ET_LOG only. Boards have only
// pal_abort(), pal_current_ticks() and pal_ticks_to_ns_multiplier(), without hooks.
#pragma once

#include <executorch/runtime/platform/compiler.h>
#include <executorch/runtime/platform/types.h>
#include <stddef.h>
#include <stdint.h>

// Attribute of the et_pal_ declarations: empty, so that an application's definitions are strong. The library
// defines it as weak for its own defaults.
#ifndef ET_INTERNAL_PLATFORM_WEAKNESS
#define ET_INTERNAL_PLATFORM_WEAKNESS
#endif

extern "C" {

// Nanoseconds per tick, as a fraction: ns = ticks * numerator / denominator. The denominator is not 0.
typedef struct {
  uint64_t numerator;
  uint64_t denominator;
} et_tick_ratio_t;

// Severity of a line, as the letter that a log shows. The default maps Debug and Info to rushlight's levels,
// all others to its Error.
typedef enum {
  kDebug = 'D',
  kInfo = 'I',
  kError = 'E',
  kFatal = 'F',
  kUnknown = '?',
} et_pal_log_level_t;

// Prepares the platform; called by runtime_init(). Must permit repeated calls.
void et_pal_init(void) ET_INTERNAL_PLATFORM_WEAKNESS;
// Ends the process and does not return.
ET_NORETURN void et_pal_abort(void) ET_INTERNAL_PLATFORM_WEAKNESS;
// A monotonic clock, in ticks since an arbitrary start. The default counts nanoseconds; 0 if the machine has
// no clock.
et_timestamp_t et_pal_current_ticks(void) ET_INTERNAL_PLATFORM_WEAKNESS;
// The length of a tick. Constant while the process lives. Default: 1/1.
et_tick_ratio_t et_pal_ticks_to_ns_multiplier(void) ET_INTERNAL_PLATFORM_WEAKNESS;
// Outputs one line. `message` has `length` characters without a line break, followed by a zero byte, and is
// valid during the call only. May be called before et_pal_init(). The default ignores `timestamp`, `function`
// and `length`.
void et_pal_emit_log_message(et_timestamp_t timestamp, et_pal_log_level_t level, const char* filename,
                             const char* function, size_t line, const char* message,
                             size_t length) ET_INTERNAL_PLATFORM_WEAKNESS;
// Heap memory for the runtime, aligned for any standard type; null if there is none left. The default is
// malloc(), and `et_pal_free` free(), which accepts null.
void* et_pal_allocate(size_t size) ET_INTERNAL_PLATFORM_WEAKNESS;
void et_pal_free(void* ptr) ET_INTERNAL_PLATFORM_WEAKNESS;

// Types of the functions, in the order of PalImpl's members.
typedef et_timestamp_t (*et_pal_current_ticks_t)(void);
using pal_init_method = void (*)();
using pal_abort_method = void (*)();
using pal_current_ticks_method = et_timestamp_t (*)();
using pal_ticks_to_ns_multiplier_method = et_tick_ratio_t (*)();
using pal_emit_log_message_method = void (*)(et_timestamp_t timestamp, et_pal_log_level_t level,
                                             const char* filename, const char* function, size_t line,
                                             const char* message, size_t length);
using pal_allocate_method = void* (*)(size_t size);
using pal_free_method = void (*)(void* ptr);
}

namespace executorch::runtime {

// A set of platform functions. Null members keep the present function, so that an application replaces only
// what it needs. `source_filename` names the source that provides them, for diagnostics; it is not copied and
// must stay valid.
struct PalImpl {
  // A set that replaces logging only.
  static PalImpl create(pal_emit_log_message_method emit_log_message, const char* source_filename);
  // A set of all functions; null ones keep the present function.
  static PalImpl create(pal_init_method init, pal_abort_method abort, pal_current_ticks_method current_ticks,
                        pal_ticks_to_ns_multiplier_method ticks_to_ns_multiplier,
                        pal_emit_log_message_method emit_log_message, pal_allocate_method allocate,
                        pal_free_method free, const char* source_filename);

  pal_init_method init = nullptr;
  pal_abort_method abort = nullptr;
  pal_current_ticks_method current_ticks = nullptr;
  pal_ticks_to_ns_multiplier_method ticks_to_ns_multiplier = nullptr;
  pal_emit_log_message_method emit_log_message = nullptr;
  pal_allocate_method allocate = nullptr;
  pal_free_method free = nullptr;
  const char* source_filename;
};

// Installs the functions, then calls `impl.init` if it has one; the former platform is not shut down. Always
// returns true. Not thread-safe: register before other threads log or allocate. Memory from the former
// allocate() is released by the new free(), so replace both before the first allocation.
bool register_pal(PalImpl impl);
// The functions in use, for comparison or to wrap them; never null, and valid as long as the process. Later
// registrations change the object.
const PalImpl* get_pal_impl();

// Call the function in use. pal_abort() calls std::abort() if that function returns.
void pal_init();
ET_NORETURN void pal_abort();
et_timestamp_t pal_current_ticks();
et_tick_ratio_t pal_ticks_to_ns_multiplier();
void pal_emit_log_message(et_timestamp_t timestamp, et_pal_log_level_t level, const char* filename,
                          const char* function, size_t line, const char* message, size_t length);
void* pal_allocate(size_t size);
void pal_free(void* ptr);

}  // namespace executorch::runtime
