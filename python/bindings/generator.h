// SPDX-License-Identifier: BSD-3-Clause
// A text generator, and the calls that Python makes on it.
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

class PyTextGenerator {
 public:
  PyTextGenerator(std::unique_ptr<llm::TextGenerator> generator, std::shared_ptr<PyTrace> trace)
      : generator_(std::move(generator)), trace_(std::move(trace)) {}

  // The tokens of a text that is to be continued, and of a conversation: pairs of role and content. Throw
  // RuntimeFailure.
  [[nodiscard]] std::vector<int32_t> encode(const std::string& prompt) const;
  [[nodiscard]] std::vector<int32_t> encode_chat(
      const std::vector<std::pair<std::string, std::string>>& messages) const;
  // Throw RuntimeFailure. Calls from several threads go one after another; the GIL is free while one
  // computes.
  void begin(const std::vector<int32_t>& prompt, const pybind11::dict& options);
  // Text as bytes, the token or None, its log probability, and the number of the Finish.
  [[nodiscard]] pybind11::tuple step();
  void rewind(size_t count);
  [[nodiscard]] std::vector<int32_t> tokens();
  [[nodiscard]] pybind11::dict facts() const;
  [[nodiscard]] pybind11::dict statistics();

 private:
  std::unique_lock<std::mutex> lock();

  std::unique_ptr<llm::TextGenerator> generator_;
  std::shared_ptr<PyTrace> trace_;  // null when nobody watches
  std::mutex mutex_;
};

void bind_generator(pybind11::module_& m);

}  // namespace rushlight
