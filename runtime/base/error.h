// SPDX-License-Identifier: BSD-3-Clause
// Status codes. The numbers are those of the ExecuTorch runtime, so that a code read off a device
// means the same to every tool; they are part of the public API and never change.
#pragma once

#include <cstdint>

namespace rushlight {

enum class [[nodiscard]] Error : uint32_t {
  Ok = 0x00,
  Internal = 0x01,      // a bug in the runtime or a kernel
  InvalidState = 0x02,  // the call does not fit what was done before it
  EndOfMethod = 0x03,   // stepping past the last instruction
  AlreadyLoaded = 0x04,

  NotSupported = 0x10,  // the program asks for what this build cannot do
  NotImplemented = 0x11,
  InvalidArgument = 0x12,  // a value, shape or count the callee cannot take
  InvalidType = 0x13,      // a dtype or value kind the callee cannot take
  OperatorMissing = 0x14,  // the program calls an operator that is not linked in
  RegistrationExceedingMaxKernels = 0x15,
  RegistrationAlreadyRegistered = 0x16,

  NotFound = 0x20,                // a method, key or delegate of that name does not exist
  MemoryAllocationFailed = 0x21,  // an arena is too small
  AccessFailed = 0x22,            // a file or device could not be read
  InvalidProgram = 0x23,          // the .pte is damaged or is not one
  InvalidExternalData = 0x24,     // the .ptd is damaged or does not fit the program
  OutOfResources = 0x25,

  DelegateInvalidCompatibility = 0x30,
  DelegateMemoryAllocationFailed = 0x31,
  DelegateInvalidHandle = 0x32,
};

// The enumerator's own spelling, or "Unknown".
const char* to_string(Error error);

}  // namespace rushlight

// Returns from the calling function when `expression`, an Error, is not Ok.
#define RL_TRY(expression)                                   \
  do {                                                       \
    const ::rushlight::Error rl_error = (expression);        \
    if (rl_error != ::rushlight::Error::Ok) return rl_error; \
  } while (false)
