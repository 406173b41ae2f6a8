// SPDX-License-Identifier: BSD-3-Clause
// The standard library's types under older names, which warn where they are used. Write std::optional.
#pragma once

#include <optional>

#include <executorch/runtime/platform/compiler.h>

namespace executorch::runtime::etensor {
template <class T>
using optional ET_DEPRECATED = std::optional<T>;
using nullopt_t ET_DEPRECATED = std::nullopt_t;
ET_DEPRECATED inline constexpr std::nullopt_t nullopt{std::nullopt};
}  // namespace executorch::runtime::etensor

namespace torch::executor {
template <class T>
using optional ET_DEPRECATED = std::optional<T>;
using nullopt_t ET_DEPRECATED = std::nullopt_t;
ET_DEPRECATED inline constexpr std::nullopt_t nullopt{std::nullopt};
}  // namespace torch::executor
