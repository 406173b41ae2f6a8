// SPDX-License-Identifier: BSD-3-Clause
// Status codes, and macros that return errors. The runtime throws no exceptions: a function that can fail
// returns an Error, or a Result<T> (core/result.h).
//
//   Error run(Method& method, const EValue& value) {
//     ET_CHECK_OR_RETURN_ERROR(method.inputs_size() == 1, InvalidArgument, "expected one input");
//     ET_CHECK_OK_OR_RETURN_ERROR(method.set_input(value, 0));
//     return method.execute();
//   }
#pragma once

#include <executorch/runtime/platform/log.h>
#include <stdint.h>

namespace executorch::runtime {

typedef uint32_t error_code_t;

// The values are part of the interface: tools interpret a code that a device reported. Codes below 0x10 are
// of the system, from 0x10 of the caller's request, from 0x20 of resources, from 0x30 of delegates.
// rushlight::Error has the same values.
enum class Error : error_code_t {
  // Success. Result<T> does not accept it as an error.
  Ok = 0x00,
  // A bug in the runtime, a kernel or a backend, or a limit that it did not expect.
  Internal = 0x01,
  // The object's present state does not permit the call.
  InvalidState = 0x2,
  // Method::step() after the last instruction; not a failure.
  EndOfMethod = 0x03,
  // The object is already loaded. rushlight does not return it.
  AlreadyLoaded = 0x04,

  // The build or the target lacks the feature; the request itself is valid.
  NotSupported = 0x10,
  // An optional function of an interface has no implementation.
  NotImplemented = 0x11,
  // A value, index, shape or name that the function does not accept.
  InvalidArgument = 0x12,
  // A dtype or kind of value that the function does not accept.
  InvalidType = 0x13,
  // No kernel is linked or registered for an operator of the program.
  OperatorMissing = 0x14,
  // register_kernels() exceeded MAX_KERNEL_NUM, or met a kernel's name and key again. It aborts and logs the
  // code, because static initialisers have no caller.
  RegistrationExceedingMaxKernels = 0x15,
  RegistrationAlreadyRegistered = 0x16,

  // No key, backend, named data or allocator is known by this name.
  NotFound = 0x20,
  // An allocator or buffer of the caller is too small.
  MemoryAllocationFailed = 0x21,
  // A file or device cannot be read or written.
  AccessFailed = 0x22,
  // The program is damaged, or of another format.
  InvalidProgram = 0x23,
  // A data file is damaged, or does not match the program.
  InvalidExternalData = 0x24,
  // A capacity is exceeded, such as a tensor's number of elements.
  OutOfResources = 0x25,

  // For backends: the payload is for another version of the backend; its memory does not suffice; a handle is
  // not from init().
  DelegateInvalidCompatibility = 0x30,
  DelegateMemoryAllocationFailed = 0x31,
  DelegateInvalidHandle = 0x32,

  // rushlight's own: the caller stopped an asynchronous execution; it did not finish in time.
  Cancelled = 0x3d,
  DeadlineExceeded = 0x3e,
};

// Returns "Error::Ok" and so on; "Error::Unknown" for other values. The text is a constant.
constexpr const char* to_string(const Error error) {
  switch (error) {
#define RUSHLIGHT_ERROR_NAME(name) \
  case Error::name:                \
    return "Error::" #name;
    RUSHLIGHT_ERROR_NAME(Ok)
    RUSHLIGHT_ERROR_NAME(Internal)
    RUSHLIGHT_ERROR_NAME(InvalidState)
    RUSHLIGHT_ERROR_NAME(EndOfMethod)
    RUSHLIGHT_ERROR_NAME(AlreadyLoaded)
    RUSHLIGHT_ERROR_NAME(NotSupported)
    RUSHLIGHT_ERROR_NAME(NotImplemented)
    RUSHLIGHT_ERROR_NAME(InvalidArgument)
    RUSHLIGHT_ERROR_NAME(InvalidType)
    RUSHLIGHT_ERROR_NAME(OperatorMissing)
    RUSHLIGHT_ERROR_NAME(RegistrationExceedingMaxKernels)
    RUSHLIGHT_ERROR_NAME(RegistrationAlreadyRegistered)
    RUSHLIGHT_ERROR_NAME(NotFound)
    RUSHLIGHT_ERROR_NAME(MemoryAllocationFailed)
    RUSHLIGHT_ERROR_NAME(AccessFailed)
    RUSHLIGHT_ERROR_NAME(InvalidProgram)
    RUSHLIGHT_ERROR_NAME(InvalidExternalData)
    RUSHLIGHT_ERROR_NAME(OutOfResources)
    RUSHLIGHT_ERROR_NAME(DelegateInvalidCompatibility)
    RUSHLIGHT_ERROR_NAME(DelegateMemoryAllocationFailed)
    RUSHLIGHT_ERROR_NAME(DelegateInvalidHandle)
    RUSHLIGHT_ERROR_NAME(Cancelled)
    RUSHLIGHT_ERROR_NAME(DeadlineExceeded)
#undef RUSHLIGHT_ERROR_NAME
  }
  return "Error::Unknown";
}

}  // namespace executorch::runtime

namespace torch::executor {
using ::executorch::runtime::Error;
using ::executorch::runtime::error_code_t;
}  // namespace torch::executor

// Logs the message and returns the error from the calling function unless the condition holds. `error_` is
// the name of an enumerator, without the class. The function returns Error or Result. It is a block: no
// semicolon may stand between it and an else.
#define ET_CHECK_OR_RETURN_ERROR(condition_, error_, message_, ...) \
  {                                                                 \
    if (!(condition_)) {                                            \
      ET_LOG(Error, message_, ##__VA_ARGS__);                       \
      return ::executorch::runtime::Error::error_;                  \
    }                                                               \
  }

// The same for functions that return bool. The log names the condition; `message_` must be a literal.
#define ET_CHECK_OR_RETURN_FALSE(condition_, message_, ...)                      \
  {                                                                              \
    if (!(condition_)) {                                                         \
      ET_LOG(Error, "Check failed (%s): " message_, #condition_, ##__VA_ARGS__); \
      return false;                                                              \
    }                                                                            \
  }

// ET_CHECK_OK_OR_RETURN_ERROR(error) or (error, "message %d", ...): returns `error` unless it is Ok.
// Evaluates it once. A message has at most 8 arguments, because the macro selects its form by their number.
#define ET_CHECK_OK_OR_RETURN_ERROR(...) ET_INTERNAL_CHECK_OK_OR_RETURN_ERROR(__VA_ARGS__)
#define ET_INTERNAL_EXPAND(x) x
#define ET_INTERNAL_GET_MACRO(_1, _2, _3, _4, _5, _6, _7, _8, _9, _10, NAME, ...) NAME
#define ET_INTERNAL_CHECK_OK_OR_RETURN_ERROR(...)                                                  \
  ET_INTERNAL_EXPAND(ET_INTERNAL_GET_MACRO(                                                        \
      __VA_ARGS__, ET_INTERNAL_CHECK_OK_OR_RETURN_ERROR_2, ET_INTERNAL_CHECK_OK_OR_RETURN_ERROR_2, \
      ET_INTERNAL_CHECK_OK_OR_RETURN_ERROR_2, ET_INTERNAL_CHECK_OK_OR_RETURN_ERROR_2,              \
      ET_INTERNAL_CHECK_OK_OR_RETURN_ERROR_2, ET_INTERNAL_CHECK_OK_OR_RETURN_ERROR_2,              \
      ET_INTERNAL_CHECK_OK_OR_RETURN_ERROR_2, ET_INTERNAL_CHECK_OK_OR_RETURN_ERROR_2,              \
      ET_INTERNAL_CHECK_OK_OR_RETURN_ERROR_2, ET_INTERNAL_CHECK_OK_OR_RETURN_ERROR_1, )(__VA_ARGS__))
#define ET_INTERNAL_CHECK_OK_OR_RETURN_ERROR_1(error_)                 \
  do {                                                                 \
    const auto et_error = (error_);                                    \
    if (et_error != ::executorch::runtime::Error::Ok) return et_error; \
  } while (0)
#define ET_INTERNAL_CHECK_OK_OR_RETURN_ERROR_2(error_, message_, ...) \
  do {                                                                \
    const auto et_error = (error_);                                   \
    if (et_error != ::executorch::runtime::Error::Ok) {               \
      ET_LOG(Error, message_, ##__VA_ARGS__);                         \
      return et_error;                                                \
    }                                                                 \
  } while (0)
