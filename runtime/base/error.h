// SPDX-License-Identifier: BSD-3-Clause
// Status codes of the runtime. The values equal ExecuTorch's runtime::Error, so that tools interpret
// a code read from a device in the same way. They are part of the public API and never change.
//
// Functions that can fail return Error, or Result<T> (result.h) if they also return a value. Both are
// [[nodiscard]]; RL_TRY and RL_TRY_ASSIGN pass errors up:
//
//   RL_TRY(method->set_input(0, value));
//   RL_TRY(method->execute());
#pragma once

#include <cstdint>

namespace rushlight {

// The outcome of a call: Ok or the kind of failure.
enum class [[nodiscard]] Error : uint32_t {
  Ok = 0x00,
  Internal = 0x01,      // a bug in the runtime or a kernel
  InvalidState = 0x02,  // the call is not allowed in the object's current state
  EndOfMethod = 0x03,   // step() after the last instruction
  AlreadyLoaded = 0x04,

  NotSupported = 0x10,  // the program needs a feature that this build does not have
  NotImplemented = 0x11,
  InvalidArgument = 0x12,  // a value, shape or count that the callee does not accept
  InvalidType = 0x13,      // a dtype or kind of value that the callee does not accept
  OperatorMissing = 0x14,  // the program calls an operator that is not linked
  RegistrationExceedingMaxKernels = 0x15,
  RegistrationAlreadyRegistered = 0x16,

  NotFound = 0x20,                // no method, key or backend has this name
  MemoryAllocationFailed = 0x21,  // an arena is too small
  AccessFailed = 0x22,            // a file or device could not be read
  InvalidProgram = 0x23,          // the .pte file is damaged or has another format
  InvalidExternalData = 0x24,     // the .ptd file is damaged or does not match the program
  OutOfResources = 0x25,

  DelegateInvalidCompatibility = 0x30,
  DelegateMemoryAllocationFailed = 0x31,
  DelegateInvalidHandle = 0x32,

  // Not ExecuTorch's; the largest codes that failure records hold, away from its future ones. Hosts only.
  Cancelled = 0x3d,         // the caller stopped the execution
  DeadlineExceeded = 0x3e,  // the execution did not finish in time
};

// Returns the enumerator's name ("InvalidState"), or "Unknown" for another value. The text is a constant.
const char* to_string(Error error);

}  // namespace rushlight

// Evaluates `expression`, an Error, and returns it from the calling function if it is not Ok.
#define RL_TRY(expression)                                   \
  do {                                                       \
    const ::rushlight::Error rl_error = (expression);        \
    if (rl_error != ::rushlight::Error::Ok) return rl_error; \
  } while (false)
