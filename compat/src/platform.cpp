// SPDX-License-Identifier: BSD-3-Clause
// The platform hooks: weak et_pal_ functions on rushlight's platform layer, and the table that register_pal
// changes and all callers use.
// An application overrides a hook by defining the function (the linker prefers it to a weak one), or at run
// time by register_pal(); the latter wins, because calls go through the table.
#define ET_INTERNAL_PLATFORM_WEAKNESS __attribute__((weak))

#include "runtime/platform/platform.h"

#include <cstdio>
#include <cstdlib>

#include <executorch/runtime/platform/abort.h>
#include <executorch/runtime/platform/log.h>
#include <executorch/runtime/platform/platform.h>
#include <executorch/runtime/platform/runtime.h>

#include "runtime/base/utf8.h"

namespace {

rushlight::LogLevel level_of(et_pal_log_level_t level) {
  switch (level) {
    case kDebug:
      return rushlight::LogLevel::Debug;
    case kInfo:
      return rushlight::LogLevel::Info;
    default:
      return rushlight::LogLevel::Error;
  }
}

}  // namespace

void et_pal_init() { rushlight::platform::init(); }

void et_pal_abort() { rushlight::platform::abort(); }

et_timestamp_t et_pal_current_ticks() { return rushlight::platform::now_ns(); }

et_tick_ratio_t et_pal_ticks_to_ns_multiplier() { return {1, 1}; }

void et_pal_emit_log_message(et_timestamp_t, et_pal_log_level_t level, const char* filename, const char*,
                             size_t line, const char* message, size_t) {
  rushlight::platform::emit_log(level_of(level), filename, static_cast<int>(line), message);
}

void* et_pal_allocate(size_t size) { return std::malloc(size); }

void et_pal_free(void* ptr) { std::free(ptr); }

namespace executorch::runtime {

namespace {

// Constant-initialised, so logging works during static initialisation. Not synchronised: register before
// threads start.
PalImpl current = {et_pal_init,
                   et_pal_abort,
                   et_pal_current_ticks,
                   et_pal_ticks_to_ns_multiplier,
                   et_pal_emit_log_message,
                   et_pal_allocate,
                   et_pal_free,
                   __FILE__};

// Null keeps the present hook.
template <class Method>
void take(Method& mine, Method other) {
  if (other != nullptr) mine = other;
}

}  // namespace

PalImpl PalImpl::create(pal_emit_log_message_method emit_log_message, const char* source_filename) {
  return create(nullptr, nullptr, nullptr, nullptr, emit_log_message, nullptr, nullptr, source_filename);
}

PalImpl PalImpl::create(pal_init_method init, pal_abort_method abort, pal_current_ticks_method current_ticks,
                        pal_ticks_to_ns_multiplier_method ticks_to_ns_multiplier,
                        pal_emit_log_message_method emit_log_message, pal_allocate_method allocate,
                        pal_free_method free, const char* source_filename) {
  return {init,     abort, current_ticks,  ticks_to_ns_multiplier, emit_log_message,
          allocate, free,  source_filename};
}

bool register_pal(PalImpl impl) {
  take(current.init, impl.init);
  take(current.abort, impl.abort);
  take(current.current_ticks, impl.current_ticks);
  take(current.ticks_to_ns_multiplier, impl.ticks_to_ns_multiplier);
  take(current.emit_log_message, impl.emit_log_message);
  take(current.allocate, impl.allocate);
  take(current.free, impl.free);
  take(current.source_filename, impl.source_filename);
  if (impl.init != nullptr) impl.init();
  return true;
}

const PalImpl* get_pal_impl() { return &current; }

void pal_init() { current.init(); }

void pal_abort() {
  current.abort();
  std::abort();  // a registered function may return
}

et_timestamp_t pal_current_ticks() { return current.current_ticks(); }

et_tick_ratio_t pal_ticks_to_ns_multiplier() { return current.ticks_to_ns_multiplier(); }

void pal_emit_log_message(et_timestamp_t timestamp, et_pal_log_level_t level, const char* filename,
                          const char* function, size_t line, const char* message, size_t length) {
  current.emit_log_message(timestamp, level, filename, function, line, message, length);
}

void* pal_allocate(size_t size) { return current.allocate(size); }

void pal_free(void* ptr) { current.free(ptr); }

void runtime_init() { pal_init(); }

void runtime_abort() { pal_abort(); }

namespace internal {

et_timestamp_t get_log_timestamp() { return pal_current_ticks(); }

void vlogf(LogLevel level, et_timestamp_t timestamp, const char* filename, const char* function, size_t line,
           const char* format, va_list args) {
  // Levels of the log macros in their order; others are unknown.
  constexpr et_pal_log_level_t kLevels[] = {kDebug, kInfo, kError, kFatal};
  const auto number = static_cast<size_t>(level);
  char message[256];
  const int length = vsnprintf(message, sizeof message, format, args);
  if (length < 0) return;
  auto kept = static_cast<size_t>(length);
  // A longer message is cut, but not within a UTF-8 character.
  if (kept >= sizeof message) {
    kept = rushlight::without_partial_character(message, sizeof message - 1);
    message[kept] = '\0';
  }
  pal_emit_log_message(timestamp, number < 4 ? kLevels[number] : kUnknown, filename, function, line, message,
                       kept);
}

}  // namespace internal

}  // namespace executorch::runtime
