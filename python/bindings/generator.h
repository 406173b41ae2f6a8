// SPDX-License-Identifier: BSD-3-Clause
// A text generator and its Python methods.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <pybind11/pybind11.h>

#include "python/bindings/trace.h"
#include "runtime/llm/text_generator.h"

namespace rushlight {

// Thread-safe: calls are serialised.
class PyTextGenerator {
 public:
  PyTextGenerator(std::unique_ptr<llm::TextGenerator> generator, std::shared_ptr<PyTrace> trace)
      : generator_(std::move(generator)), trace_(std::move(trace)) {}

  // Encode a text to be continued, or a conversation as pairs of role and content. Throw RuntimeFailure.
  [[nodiscard]] std::vector<int32_t> encode(const std::string& prompt) const;
  [[nodiscard]] std::vector<int32_t> encode_chat(
      const std::vector<std::pair<std::string, std::string>>& messages) const;
  // Throw RuntimeFailure. Calls from several threads execute one at a time; the GIL is released during the
  // computation.
  void begin(const std::vector<int32_t>& prompt, const pybind11::dict& options);
  // Returns (text as bytes, token or None, log probability, Finish as an integer).
  [[nodiscard]] pybind11::tuple step();
  void rewind(size_t count);
  [[nodiscard]] std::vector<int32_t> tokens();
  [[nodiscard]] pybind11::dict facts() const;
  [[nodiscard]] pybind11::dict statistics();

 private:
  std::unique_lock<std::mutex> lock();

  std::unique_ptr<llm::TextGenerator> generator_;
  std::shared_ptr<PyTrace> trace_;  // null without tracing
  std::mutex mutex_;
};

void bind_generator(pybind11::module_& m);

}  // namespace rushlight
