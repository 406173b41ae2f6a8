// SPDX-License-Identifier: BSD-3-Clause
// The part of GoogleTest that the tests of microkernels use, with the same names, for machines without
// GoogleTest: bare metal, WebAssembly, and emulated machines for which compiling it takes longer than all
// tests. No constructor runs before main(), and only headers of the C++ library are used. main.cpp runs the
// tests.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <type_traits>
#include <vector>

namespace testing {

// A test or suite that the macros below declare. The linker section rl_tests collects pointers to nodes, so
// that no constructors are needed.
struct Node {
  const void* suite_of;  // a TEST_P's: &tag<Suite>
  bool is_test;          // not an INSTANTIATE_TEST_SUITE_P
  const char* suite;
  const char* name;
  void (*run)();
};
// Its address identifies a suite without run-time type information.
template <class Suite>
inline constexpr char tag = 0;

inline size_t failures;  // failed expectations

// Runs each test of a suite, for its parameter value `instance`; with null, each TEST and all suites.
void run_all(const void* suite_of, size_t instance);

// Objects are on the stack and of known type, so the destructor need not be virtual.
struct Test {
  virtual void TestBody() = 0;

 protected:
  ~Test() = default;
};

// For functions that name values: they compile, but are never called here.
template <class T>
struct TestParamInfo {
  const T& param;
  size_t index;
};

template <class T>
class TestWithParam : public Test {
 public:
  using ParamType = T;
  [[nodiscard]] static const T& GetParam() { return *current; }
  // The value of the running test.
  static inline const T* current;
};

// Runs one test with a new object, as GoogleTest does.
template <class Body>
void run_body() {
  Body body;
  body.TestBody();
}

// Runs the tests of a suite once for each value.
template <class Suite, class T>
void run_instances(const std::vector<T>& values) {
  using Parameter = typename Suite::ParamType;
  for (size_t i = 0; i < values.size(); ++i) {
    const Parameter value(values[i]);
    TestWithParam<Parameter>::current = &value;
    run_all(&tag<Suite>, i);
  }
}

// Generators: all values are computed before the suite's first test.
template <class T>
std::vector<T> ValuesIn(const std::vector<T>& values) {
  return values;
}
template <class T>
std::vector<T> Range(T from, T end) {
  std::vector<T> values;
  for (; from < end; ++from) values.push_back(from);
  return values;
}

// A failed expectation. Prints what is streamed into it after the location; only the first failures are
// printed.
class Report {
 public:
  // Counts the failure; more than 20 are counted silently, because serial lines are slow.
  Report(const char* file, int line, const char* expected) : printed_(++failures <= 20) {
    if (printed_) std::printf("%s:%d: expected %s: ", file, line, expected);
  }
  Report(const Report&) = delete;
  ~Report() {
    if (printed_) std::printf("\n");
  }

  template <class T>
  Report& operator<<(const T& value) {
    if (printed_) print(value);
    return *this;
  }
  // Prints both operands of a comparison.
  template <class A, class B>
  Report& values(const A& a, const B& b) {
    return *this << a << ", " << b << " ";
  }

 private:
  template <class T>
  static void print(const T& value) {
    if constexpr (std::is_integral_v<T>) {
      std::printf("%ld", static_cast<long>(value));
    } else if constexpr (std::is_floating_point_v<T>) {
      // printf of small C libraries has no floats: prints value and bits.
      const auto narrow = static_cast<float>(value);
      uint32_t bits = 0;
      std::memcpy(&bits, &narrow, sizeof bits);
      std::printf("%ld/1000 (0x%08lx)", static_cast<long>(narrow * 1000), static_cast<unsigned long>(bits));
    } else if constexpr (std::is_convertible_v<T, const char*>) {
      std::printf("%s", static_cast<const char*>(value));
    } else {
      std::printf("?");
    }
  }

  bool printed_;
};

// Makes the return statement of an ASSERT void.
struct Nothing {
  void operator=(const Report&) const {}
};

}  // namespace testing

// The pointer in the section, not the node, because sections of pointers have no padding between entries.
#define RL_TEST_NODE(suite_of, is_test, suite, name, run)                                               \
  static constexpr ::testing::Node node_##suite##_##name = {suite_of, is_test, #suite, #name, run};     \
  [[gnu::used, gnu::section("rl_tests")]] static const ::testing::Node* const listed_##suite##_##name = \
      &node_##suite##_##name

// A TEST_P's class derives from its suite, which has GetParam().
#define RL_TEST_CLASS(suite, name, base) \
  struct suite##_##name final : base {   \
    void TestBody() override;            \
  }

#define TEST(suite, name)                                                        \
  RL_TEST_CLASS(suite, name, ::testing::Test);                                   \
  RL_TEST_NODE(nullptr, true, suite, name, ::testing::run_body<suite##_##name>); \
  void suite##_##name::TestBody()

#define TEST_P(suite, name)                                                                     \
  RL_TEST_CLASS(suite, name, suite);                                                            \
  RL_TEST_NODE(&::testing::tag<suite>, true, suite, name, ::testing::run_body<suite##_##name>); \
  void suite##_##name::TestBody()

// The arguments may include a function that names the values; here they are named by index.
#define INSTANTIATE_TEST_SUITE_P(prefix, suite, generator, ...)                        \
  static void run_##prefix##_##suite() { ::testing::run_instances<suite>(generator); } \
  RL_TEST_NODE(nullptr, false, prefix, suite, run_##prefix##_##suite)

// An if with an empty branch: the report, with what is streamed into it, exists on failure only, and an else
// that follows belongs to the caller's if.
#define RL_EXPECT(condition, text) \
  if (condition) {                 \
  } else                           \
    ::testing::Report(__FILE__, __LINE__, text)
// The same, but leaves the function, which must return void.
#define RL_ASSERT(condition, text) \
  if (condition) {                 \
  } else                           \
    return ::testing::Nothing() = ::testing::Report(__FILE__, __LINE__, text)

// Arguments are evaluated once, and again for the report of a failure.
#define EXPECT_TRUE(condition) RL_EXPECT((condition), #condition)
#define EXPECT_FALSE(condition) RL_EXPECT(!(condition), "not " #condition)
#define EXPECT_EQ(a, b) RL_EXPECT((a) == (b), #a " == " #b).values(a, b)
#define EXPECT_LE(a, b) RL_EXPECT((a) <= (b), #a " <= " #b).values(a, b)
#define EXPECT_NEAR(a, b, within) RL_EXPECT(std::fabs((a) - (b)) <= (within), #a " near " #b).values(a, b)
#define ASSERT_TRUE(condition) RL_ASSERT((condition), #condition)
#define ASSERT_EQ(a, b) RL_ASSERT((a) == (b), #a " == " #b).values(a, b)
#define ASSERT_NEAR(a, b, within) RL_ASSERT(std::fabs((a) - (b)) <= (within), #a " near " #b).values(a, b)
#define ASSERT_GE(a, b) RL_ASSERT((a) >= (b), #a " >= " #b).values(a, b)
