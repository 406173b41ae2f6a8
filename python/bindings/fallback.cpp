// SPDX-License-Identifier: BSD-3-Clause
// Chooses between a kernel and a Python function, call by call. A kernel that refuses a dtype may have
// written a part of its result, so the function repeats a call only if that cannot matter: it overwrites the
// result, and reads none of its bytes. Other calls go to the function at once if the kernel's row lacks a
// dtype.
#include "python/bindings/fallback.h"

#include <atomic>
#include <utility>

#include <pybind11/stl.h>

#include "aten/choice.h"
#include "kernels/checks/selection.h"
#include "python/bindings/captured_log.h"
#include "python/bindings/convert.h"
#include "python/bindings/dlpack.h"
#include "python/bindings/outputs.h"
#include "runtime/base/log.h"
#include "runtime/platform/platform.h"

namespace py = pybind11;

namespace rushlight {

namespace {

// Calls f(tensor) for each written tensor.
template <class F>
void for_each_written(const char* signature, EValue* const* arguments, F f) {
  for (size_t i = 0; signature[i] != '\0'; ++i)
    if (is_written(signature[i])) for_each_tensor(*arguments[i], f);
}

// PyTorch writes some optional tensors without saying so in its schema: running statistics of
// native_batch_norm. It gets a copy of constants there, whose memory may be mapped read-only.
py::object lend_read(char code, const TensorImpl& tensor) {
  return code == 'T' && !tensor.is_writable() ? lend_copy(tensor) : lend_tensor(tensor);
}

py::object read_argument(char code, const EValue& value) {
  if (value.is_none()) return py::none();
  switch (code | 0x20) {  // in lower case
    case 'i':
      return py::int_(value.to_int());
    case 'd':
      return py::float_(value.to_double());
    case 'b':
      return py::bool_(value.to_bool());
    case 't':
      return lend_read(code, *value.payload.as_tensor.impl());
    case 'l': {
      py::list list;
      for (const Tensor& tensor : value.to_tensor_list()) list.append(lend_tensor(*tensor.impl()));
      return list;
    }
    case 'p': {
      py::list list;
      for (const auto& tensor : value.to_optional_tensor_list())
        list.append(tensor.has_value() ? lend_tensor(*tensor->impl()) : py::object(py::none()));
      return list;
    }
    default:  // numbers, strings, lists of numbers
      return to_python(value, Outputs::Copy, {});
  }
}

py::object written_argument(const char* signature, EValue* const* arguments, const EValue& value) {
  const auto lend = [&](const TensorImpl& tensor) -> py::object {
    const bool is_dynamic = tensor.shape_dynamism() != TensorShapeDynamism::STATIC;
    return py::make_tuple(lend_memory(tensor), to_tuple(tensor.sizes()), to_tuple(tensor.dim_order()),
                          is_dynamic, aten::is_read(tensor, signature, arguments));
  };
  if (value.is_tensor()) return lend(*value.payload.as_tensor.impl());
  py::list list;
  for (const Tensor& tensor : value.to_tensor_list()) list.append(lend(*tensor.impl()));
  return list;
}

// Takes over the sizes that the function reports, one for each written tensor.
Error resize_written(const char* signature, EValue* const* arguments, const py::handle& reported) {
  const auto all = reported.cast<std::vector<std::vector<SizesType>>>();
  size_t next = 0;
  Error error = Error::Ok;
  for_each_written(signature, arguments, [&](const Tensor& tensor) {
    if (error == Error::Ok && next < all.size())
      error = tensor.impl()->resize({all[next].data(), all[next].size()});
    ++next;
  });
  return next == all.size() ? error : Error::Internal;
}

// The kind of an exception: NotImplementedError is about dtypes, and what is not named here about arguments.
Error code_of(const py::error_already_set& raised) {
  if (raised.matches(PyExc_NotImplementedError)) return Error::InvalidType;
  if (raised.matches(PyExc_MemoryError)) return Error::MemoryAllocationFailed;
  return Error::InvalidArgument;
}

// The exception's text on one line, as every line of the log.
std::string text_of(const py::error_already_set& raised) {
  return py::str(" ").attr("join")(py::str(raised.value()).attr("split")()).cast<std::string>();
}

// The first line that was logged after `before` was saved.
std::string first_line_since(const CapturedLog& before) {
  const std::string& text = captured_log().text;
  const size_t begin = before.text.empty() ? 0 : before.text.size() + 1;
  return begin < text.size() ? text.substr(begin, text.find('\n', begin) - begin) : std::string();
}

// Restores this thread's log when the scope ends: Python code may run the runtime, which clears it.
class KeptLog {
 public:
  KeptLog() : kept_(captured_log()) {}
  KeptLog(const KeptLog&) = delete;
  KeptLog& operator=(const KeptLog&) = delete;
  ~KeptLog() { captured_log() = std::move(kept_); }

 private:
  CapturedLog kept_;
};

}  // namespace

// A table with one entry. The executor hands the entry to `serve` with each call.
class ServedOperator final : public KernelEntry {
 public:
  ServedOperator(std::string name, std::string signature, const KernelEntry* own, bool overwrites,
                 py::function function)
      : name_(std::move(name)),
        signature_(std::move(signature)),
        own_(own),
        overwrites_(overwrites),
        function_(std::move(function)) {
    KernelEntry& entry = *this;
    entry = {name_.c_str(), &serve, signature_.c_str()};
    if (own == nullptr) return;
    entry.kernel = own->kernel;
    entry.prepare = own->prepare;
    for (const auto& row : kernels::kSelectedTypes)
      if (row.name == name_) types_ = row.types;
  }

  [[nodiscard]] const OperatorTable& before(const OperatorTable* next) {
    table_ = {this, 1, next, nullptr};
    return table_;
  }
  [[nodiscard]] uint64_t calls() const { return calls_; }

 private:
  static Error serve(KernelContext& context, EValue* const* arguments, ErasedKernel kernel) {
    const auto& served = static_cast<const ServedOperator&>(*context.kernel());
    if (served.own_ == nullptr) return served.call_function(arguments, {});
    KernelContext own(context, *served.own_);
    if (kernel == served.prepare && !served.folds()) return served.prepare_own(own, arguments, kernel);
    return served.call_either(own, arguments, kernel);
  }

  // A kernel that refuses a dtype prepares nothing.
  Error prepare_own(KernelContext& context, EValue* const* arguments, ErasedKernel kernel) const {
    const CapturedLog before = captured_log();
    const Error error = own_->function(context, arguments, kernel);
    if (!aten::refuses(error)) return error;
    captured_log() = before;
    return Error::Ok;
  }

  Error call_either(KernelContext& context, EValue* const* arguments, ErasedKernel kernel) const {
    if (!is_asked(arguments)) return call_function(arguments, {});
    const CapturedLog before = captured_log();
    const Error error = own_->function(context, arguments, kernel);
    if (!aten::refuses(error) || !may_repeat(arguments)) return error;
    const std::string reason = first_line_since(before);
    captured_log() = before;
    return call_function(arguments, reason.empty() ? to_string(error) : reason);
  }

  [[nodiscard]] bool may_repeat(EValue* const* arguments) const {
    return aten::may_repeat(!overwrites_, signature, arguments);
  }
  // Positions may have dtypes that the row does not list. It then depends on the kernel, which is asked only
  // if the call may be repeated.
  [[nodiscard]] bool is_asked(EValue* const* arguments) const {
    return aten::has_dtypes(types_, signature, arguments) ||
           (aten::has_dtypes(types_ | aten::kPositions, signature, arguments) && may_repeat(arguments));
  }

  // `refusal`: the kernel's reason, if it was asked. The exception's text is logged with it.
  Error call_function(EValue* const* arguments, const std::string& refusal) const {
    const py::gil_scoped_acquire acquired;
    std::string text;
    const Error error = call_locked(arguments, &text);
    if (error == Error::Ok) {
      calls_.fetch_add(1, std::memory_order_relaxed);
    } else if (!text.empty()) {
      const std::string ours = refusal.empty() ? "" : refusal + "; ";
      const std::string line = std::string("operator ") + name + ": " + ours + "PyTorch: " + text;
      platform::emit_log(LogLevel::Error, __FILE__, __LINE__, line.c_str());
    }
    return error;
  }

  Error call_locked(EValue* const* arguments, std::string* text) const {
    const KeptLog kept;
    try {
      py::list list;
      for (size_t i = 0; signature[i] != '\0'; ++i) {
        list.append(is_written(signature[i]) ? written_argument(signature, arguments, *arguments[i])
                                             : read_argument(signature[i], *arguments[i]));
      }
      const Error error = resize_written(signature, arguments, function_(list));
      if (error != Error::Ok) *text = "the result does not fit in the output";
      return error;
    } catch (py::error_already_set& raised) {
      // Ctrl-C: the caller of the method raises it again (interrupt.h).
      if (!raised.matches(PyExc_Exception)) {
        raised.restore();
        return Error::InvalidState;
      }
      *text = text_of(raised);
      return code_of(raised);
    } catch (const std::exception& raised) {
      *text = raised.what();
      return Error::Internal;
    }
  }

  std::string name_;
  std::string signature_;
  const KernelEntry* own_;
  bool overwrites_;
  TypeSet types_ = ~TypeSet{0};  // an operator without a row is asked
  py::function function_;
  mutable std::atomic<uint64_t> calls_ = 0;
  OperatorTable table_{};
};

Fallback::Fallback() : table_{nullptr, 0, &selected_operators} {}

Fallback::~Fallback() {
  const py::gil_scoped_acquire acquired;
  operators_.clear();
}

bool Fallback::add(const std::string& name, const std::string& signature, bool first, bool overwrites,
                   py::function function) {
  const KernelEntry* own = selected_operators.find(name.c_str(), "");
  if (own != nullptr && own->signature != signature) return false;
  if (first) own = nullptr;
  operators_.push_back(
      std::make_unique<ServedOperator>(name, signature, own, overwrites, std::move(function)));
  table_.next = &operators_.back()->before(table_.next);
  return true;
}

py::dict Fallback::calls() const {
  py::dict calls;
  for (const auto& served : operators_) calls[to_str(served->name)] = served->calls();
  return calls;
}

}  // namespace rushlight
