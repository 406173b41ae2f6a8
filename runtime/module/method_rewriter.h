// SPDX-License-Identifier: BSD-3-Clause
// Changes methods before they are loaded: other calls that compute the same outputs in less time. The
// implementation is backends/rewrite; an application that does not name it does not link it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "runtime/base/span.h"
#include "runtime/kernel/operator_table.h"
#include "runtime/program/named_data.h"
#include "runtime/program/program.h"

namespace rushlight {

// A program in memory that replaces one method. It refers to the constants of the stated program.
class RewrittenMethod {
 public:
  virtual ~RewrittenMethod() = default;
  // A program with one method of the stated name, inputs and outputs.
  [[nodiscard]] virtual const Program& program() const = 0;
  // The file of that program, without its constants.
  [[nodiscard]] virtual Span<const uint8_t> file() const = 0;
  // The data of its external tensors.
  [[nodiscard]] virtual const NamedDataMap& data() const = 0;
  // Bytes of memory that the program and its new constants take.
  [[nodiscard]] virtual size_t bytes() const = 0;
  // For each of its instructions, the stated method's instruction whose result it computes.
  [[nodiscard]] virtual Span<const uint32_t> stated_instructions() const = 0;
};

// Rewrites the methods of one module, which owns it: constants that it makes are shared between methods, and
// live as long as data that kernels prepare from them. Thread-safe.
class MethodRewriter {
 public:
  virtual ~MethodRewriter() = default;
  // Returns null if the method stays as it is. `program`, `operators` and `external` (may be null) must
  // outlive the result.
  [[nodiscard]] virtual std::unique_ptr<RewrittenMethod> rewrite(const Program& program, const char* name,
                                                                 const OperatorTable& operators,
                                                                 const NamedDataMap* external) = 0;
};

using MakeRewriter = std::unique_ptr<MethodRewriter> (*)();

}  // namespace rushlight
