// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/base/error.h"

namespace rushlight {

const char* to_string(Error error) {
#define RL_NAMED(code) \
  case Error::code:    \
    return #code;
  switch (error) {
    RL_NAMED(Ok)
    RL_NAMED(Internal)
    RL_NAMED(InvalidState)
    RL_NAMED(EndOfMethod)
    RL_NAMED(AlreadyLoaded)
    RL_NAMED(NotSupported)
    RL_NAMED(NotImplemented)
    RL_NAMED(InvalidArgument)
    RL_NAMED(InvalidType)
    RL_NAMED(OperatorMissing)
    RL_NAMED(RegistrationExceedingMaxKernels)
    RL_NAMED(RegistrationAlreadyRegistered)
    RL_NAMED(NotFound)
    RL_NAMED(MemoryAllocationFailed)
    RL_NAMED(AccessFailed)
    RL_NAMED(InvalidProgram)
    RL_NAMED(InvalidExternalData)
    RL_NAMED(OutOfResources)
    RL_NAMED(DelegateInvalidCompatibility)
    RL_NAMED(DelegateMemoryAllocationFailed)
    RL_NAMED(DelegateInvalidHandle)
// Builds for boards cannot stop a method, and save the names.
#if defined(RUSHLIGHT_LIMITS) && RUSHLIGHT_LIMITS != 0
    RL_NAMED(Cancelled)
    RL_NAMED(DeadlineExceeded)
#else
    case Error::Cancelled:
    case Error::DeadlineExceeded:
      break;
#endif
  }
#undef RL_NAMED
  return "Unknown";
}

}  // namespace rushlight
