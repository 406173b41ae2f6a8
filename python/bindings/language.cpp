// SPDX-License-Identifier: BSD-3-Clause
// Binds tokenizer, decoder, chat template and sampler without a program. Objects refer to their blob or
// tokenizer, so each wrapper keeps the Python object that owns the memory.
#include "python/bindings/language.h"

#include <string>
#include <variant>

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include "python/bindings/failure.h"
#include "python/bindings/gil.h"
#include "runtime/llm/chat_template.h"
#include "runtime/llm/sampler.h"
#include "runtime/llm/tokenizer.h"

namespace py = pybind11;

namespace rushlight {

namespace {

Span<const uint8_t> span_of(const py::bytes& bytes) {
  const std::string_view view = bytes;
  return {reinterpret_cast<const uint8_t*>(view.data()), view.size()};
}

// An object loaded from a blob, together with the blob that it refers to.
template <class T>
struct Loaded {
  // The order of the members matters: the value refers to the blob's bytes.
  explicit Loaded(py::bytes given)
      : blob(std::move(given)), value(value_of([this] { return T::load(span_of(blob)); })) {}
  py::bytes blob;
  T value;
};
using LoadedTokenizer = Loaded<llm::Tokenizer>;
using LoadedTemplate = Loaded<llm::ChatTemplate>;

struct OwningDecoder {
  // Keeps the tokenizer alive, to which the decoder points.
  py::object tokenizer;
  llm::Decoder decoder;
};

// Releases the GIL, because encoding a long text takes a while.
std::vector<int32_t> encode(const LoadedTokenizer& self, const std::string& text, bool parse_special) {
  std::vector<int32_t> tokens;
  check([&] { return without_gil([&] { return self.value.encode(text, &tokens, parse_special); }); });
  return tokens;
}

// Decoders emit whole characters only, so this conversion cannot fail.
py::str text_of(const std::string& text) { return py::str(text.data(), text.size()); }

py::str decode(const LoadedTokenizer& self, const std::vector<int32_t>& tokens, bool skip_special) {
  llm::Decoder decoder(self.value, skip_special);
  std::string text;
  for (const int32_t token : tokens) decoder.add(token, &text);
  decoder.finish(&text);
  return text_of(text);
}

std::string render(const LoadedTemplate& self,
                   const std::vector<std::pair<std::string, std::string>>& messages, bool generation_prompt) {
  std::vector<llm::Message> views;
  for (const auto& [role, content] : messages) views.push_back({role, content});
  std::string text;
  check([&] { return self.value.render({views.data(), views.size()}, generation_prompt, &text); });
  return text;
}

// Message contents are encoded as text: special tokens inside of them are not parsed
// (ChatTemplate::encode()).
std::vector<int32_t> encode_messages(const LoadedTemplate& self,
                                     const std::vector<std::pair<std::string, std::string>>& messages,
                                     bool generation_prompt, const LoadedTokenizer& tokenizer) {
  std::vector<llm::Message> views;
  for (const auto& [role, content] : messages) views.push_back({role, content});
  std::vector<int32_t> tokens;
  check([&] {
    return self.value.encode({views.data(), views.size()}, generation_prompt, tokenizer.value, &tokens);
  });
  return tokens;
}

// Converts lists and other dtypes to a contiguous float32 array.
using Logits = py::array_t<float, py::array::c_style | py::array::forcecast>;

// The sampler's state (its count of draws) belongs to the Python object.
int32_t sample(llm::Sampler& self, const Logits& logits, const std::vector<int32_t>& recent) {
  const Span<const float> span(logits.data(), static_cast<size_t>(logits.size()));
  return self.sample(span, {recent.data(), recent.size()});
}

void bind_tokenizer(py::module_& m) {
  py::class_<LoadedTokenizer>(m, "Tokenizer", py::module_local())
      .def(py::init<py::bytes>(), py::arg("blob"))
      .def("encode", &encode, py::arg("text"), py::arg("parse_special"))
      .def("decode", &decode, py::arg("tokens"), py::arg("skip_special"))
      .def(
          "text",
          // Bytes: a token may end inside of a character.
          [](const LoadedTokenizer& self, int32_t token) { return py::bytes(self.value.text(token)); },
          py::arg("token"))
      .def(
          "is_special",
          [](const LoadedTokenizer& self, int32_t token) { return self.value.is_special(token); },
          py::arg("token"))
      .def(
          "find",
          [](const LoadedTokenizer& self, const std::variant<py::str, py::bytes>& text) {
            // str encodes to UTF-8; bytes find tokens that are no valid UTF-8.
            return self.value.find(std::visit([](const auto& given) { return std::string(given); }, text));
          },
          py::arg("text"))
      .def("prefix", [](const LoadedTokenizer& self) { return self.value.prefix(); })
      .def("suffix", [](const LoadedTokenizer& self) { return self.value.suffix(); })
      .def("bos", [](const LoadedTokenizer& self) { return self.value.bos(); })
      .def("eos", [](const LoadedTokenizer& self) { return self.value.eos(); })
      .def("__len__", [](const LoadedTokenizer& self) { return self.value.size(); });
  py::class_<OwningDecoder>(m, "TokenDecoder", py::module_local())
      .def(py::init([](py::object tokenizer, bool skip_special) {
             const auto& loaded = tokenizer.cast<const LoadedTokenizer&>();
             return OwningDecoder{tokenizer, llm::Decoder(loaded.value, skip_special)};
           }),
           py::arg("tokenizer"), py::arg("skip_special"))
      .def(
          "add",
          [](OwningDecoder& self, int32_t token) {
            std::string text;
            self.decoder.add(token, &text);
            return text_of(text);
          },
          py::arg("token"))
      .def("finish", [](OwningDecoder& self) {
        std::string text;
        self.decoder.finish(&text);
        return text_of(text);
      });
}

}  // namespace

void bind_language(py::module_& m) {
  bind_tokenizer(m);
  py::class_<LoadedTemplate>(m, "ChatTemplate", py::module_local())
      .def(py::init<py::bytes>(), py::arg("blob"))
      .def("render", &render, py::arg("messages"), py::arg("generation_prompt"))
      .def("encode", &encode_messages, py::arg("messages"), py::arg("generation_prompt"),
           py::arg("tokenizer"));
  py::class_<llm::Sampler>(m, "Sampler", py::module_local())
      .def(py::init([](float temperature, int32_t top_k, float top_p, float min_p, float repetition_penalty,
                       size_t repeat_last_n, uint64_t seed) {
             return llm::Sampler({temperature, top_k, top_p, min_p, repetition_penalty, repeat_last_n, seed});
           }),
           py::arg("temperature"), py::arg("top_k"), py::arg("top_p"), py::arg("min_p"),
           py::arg("repetition_penalty"), py::arg("repeat_last_n"), py::arg("seed"))
      .def("sample", &sample, py::arg("logits"), py::arg("recent"));
}

}  // namespace rushlight
