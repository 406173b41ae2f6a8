// SPDX-License-Identifier: BSD-3-Clause
// Status codes, and macros that return errors.
#pragma once

#include <executorch/runtime/platform/log.h>
#include <stdint.h>

namespace executorch::runtime {

typedef uint32_t error_code_t;

enum class Error : error_code_t {
  Ok = 0x00,
  Internal = 0x01,
  InvalidState = 0x2,
  EndOfMethod = 0x03,
  AlreadyLoaded = 0x04,

  NotSupported = 0x10,
  NotImplemented = 0x11,
  InvalidArgument = 0x12,
  InvalidType = 0x13,
  OperatorMissing = 0x14,
  RegistrationExceedingMaxKernels = 0x15,
  RegistrationAlreadyRegistered = 0x16,

  NotFound = 0x20,
  MemoryAllocationFailed = 0x21,
  AccessFailed = 0x22,
  InvalidProgram = 0x23,
  InvalidExternalData = 0x24,
  OutOfResources = 0x25,

  DelegateInvalidCompatibility = 0x30,
  DelegateMemoryAllocationFailed = 0x31,
  DelegateInvalidHandle = 0x32,
};

// Returns "Error::Ok" and so on; "Error::Unknown" for other values.
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
#undef RUSHLIGHT_ERROR_NAME
  }
  return "Error::Unknown";
}

}  // namespace executorch::runtime

namespace torch::executor {
using ::executorch::runtime::Error;
using ::executorch::runtime::error_code_t;
}  // namespace torch::executor

// `error_` is the name of an enumerator, without the class.
#define ET_CHECK_OR_RETURN_ERROR(condition_, error_, message_, ...) \
  {                                                                 \
    if (!(condition_)) {                                            \
      ET_LOG(Error, message_, ##__VA_ARGS__);                       \
      return ::executorch::runtime::Error::error_;                  \
    }                                                               \
  }

#define ET_CHECK_OR_RETURN_FALSE(condition_, message_, ...)                      \
  {                                                                              \
    if (!(condition_)) {                                                         \
      ET_LOG(Error, "Check failed (%s): " message_, #condition_, ##__VA_ARGS__); \
      return false;                                                              \
    }                                                                            \
  }

// ET_CHECK_OK_OR_RETURN_ERROR(error) or (error, "message %d", ...): returns `error` unless it is Ok.
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
