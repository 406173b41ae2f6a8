// SPDX-License-Identifier: BSD-3-Clause
// Stockham's autosort algorithm with the prime factors as radices, and 4 in builds for speed: no bit reversal
// and contiguous writes. Reference: Van Loan, "Computational Frameworks for the Fast Fourier Transform",
// 1992.
#include "kernels/math/fft.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/checks/selection.h"
#include "kernels/ukernel/loops.h"
#include "runtime/tensor/complex.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

// At least one side of a transform is complex.
constexpr TypeSet kTypes =
    kSelectsComplex ? kAnySelectedType & type_set(ScalarType::Float, ScalarType::Double) : 0;

template <class T>
using Point = Complex<T>;

// roots[k] = exp(±2 pi i k / n), exact at multiples of a quarter turn.
template <class T>
void fill_roots(Point<T>* roots, ptrdiff_t n, bool forward) {
  constexpr double kQuarter = 1.57079632679489661923;
  ptrdiff_t quarter = 0;
  ptrdiff_t rest = 0;  // 4 k - quarter n
  for (ptrdiff_t k = 0; k < n; ++k, rest += 4) {
    while (rest >= n) {
      rest -= n;
      ++quarter;
    }
    // Only angles of the first quadrant are evaluated; the others are rotated by quarter turns, without
    // rounding.
    const double angle = kQuarter * static_cast<double>(rest) / static_cast<double>(n);
    double re = std::cos(angle);
    double im = std::sin(angle);
    if ((quarter & 1) != 0) {
      const double rotated = -im;
      im = re;
      re = rotated;
    }
    if ((quarter & 2) != 0) {
      re = -re;
      im = -im;
    }
    roots[k] = Point<T>(static_cast<T>(re), static_cast<T>(forward ? -im : im));
  }
}

// Trial division, at most sqrt(n) / 2 steps, once for each pass.
ptrdiff_t smallest_factor(ptrdiff_t n) {
  if (n % 2 == 0) return 2;
  for (ptrdiff_t p = 3; p * p <= n; p += 2) {
    if (n % p == 0) return p;
  }
  return n;
}

// Points of kLanes transforms side by side: the real parts of point k, then its imaginary parts.
template <class T, ptrdiff_t kLanes>
struct Lanes {
  T* data;

  [[nodiscard]] T* real(ptrdiff_t k) const { return data + 2 * kLanes * k; }
  [[nodiscard]] T* imag(ptrdiff_t k) const { return data + 2 * kLanes * k + kLanes; }
};

#ifndef __OPTIMIZE_SIZE__
// One number of each lane.
template <class T, ptrdiff_t kLanes>
struct NumbersOf {
  using Type = T;
};
template <>
struct NumbersOf<float, 8> {
  using Type = float __attribute__((vector_size(32)));
};
template <>
struct NumbersOf<double, 4> {
  using Type = double __attribute__((vector_size(32)));
};

// The points of all lanes at one position.
template <class T, ptrdiff_t kLanes>
struct Points {
  typename NumbersOf<T, kLanes>::Type real;
  typename NumbersOf<T, kLanes>::Type imag;

  [[gnu::always_inline]] void load(const Lanes<T, kLanes>& from, ptrdiff_t k) {
    std::memcpy(&real, from.real(k), sizeof(real));
    std::memcpy(&imag, from.imag(k), sizeof(imag));
  }
  // Times exp(i angle): the twiddle factor of a part.
  [[gnu::always_inline]] void load(const Lanes<T, kLanes>& from, ptrdiff_t k, const Point<T>& root) {
    load(from, k);
    const auto rotated = real * root.real - imag * root.imag;
    imag = real * root.imag + imag * root.real;
    real = rotated;
  }
  [[gnu::always_inline]] void store(const Lanes<T, kLanes>& to, ptrdiff_t k) const {
    std::memcpy(to.real(k), &real, sizeof(real));
    std::memcpy(to.imag(k), &imag, sizeof(imag));
  }
  // The sum and the difference of two.
  [[gnu::always_inline]] void add(const Points& a, const Points& b) {
    real = a.real + b.real;
    imag = a.imag + b.imag;
  }
  [[gnu::always_inline]] void subtract(const Points& a, const Points& b) {
    real = a.real - b.real;
    imag = a.imag - b.imag;
  }
};

// Stockham's algorithm. `from` holds, one after the other, the transforms of the groups of elements that are
// `n / done` apart; each pass joins `radix` of them into transforms `radix` times as long, until one remains.
// Returns the buffer that holds the result.
//
// A pass multiplies part j by a power of a root, as for any transform of a product of two sizes, and then
// transforms the `radix` numbers:
//
//   2         sum and difference
//   4         two of them twice; exp(pi i / 2) exchanges parts
//   odd r     parts j and r - j, which have conjugate factors, by their sum and difference: a quarter of the
//             products. The sums replace the parts, which nothing else reads.
template <class T, ptrdiff_t kLanes>
[[gnu::always_inline]] inline Lanes<T, kLanes> transform(Lanes<T, kLanes> from, Lanes<T, kLanes> to,
                                                         const Point<T>* roots, ptrdiff_t n) {
  using Each = Points<T, kLanes>;
  ptrdiff_t done = 1;
  while (done < n) {
    const ptrdiff_t left = n / done;
    const ptrdiff_t radix = left % 4 == 0 ? 4 : smallest_factor(left);
    const ptrdiff_t joined = done * radix;
    const ptrdiff_t groups = n / joined;
    const ptrdiff_t apart = groups * done;  // between the parts of a new group
    for (ptrdiff_t group = 0; group < groups; ++group) {
      for (ptrdiff_t s = 0; s < done; ++s) {
        const ptrdiff_t at = group * done + s;
        const ptrdiff_t out = group * joined + s;
        const auto root = [=](ptrdiff_t j) { return roots[j * s * groups]; };
        Each first;
        first.load(from, at);
        if (radix % 2 == 0) {
          Each second;
          Each sum;
          Each difference;
          second.load(from, at + radix / 2 * apart, root(radix / 2));
          sum.add(first, second);
          difference.subtract(first, second);
          if (radix == 2) {
            sum.store(to, out);
            difference.store(to, out + done);
            continue;
          }
          Each odd;
          first.load(from, at + apart, root(1));
          second.load(from, at + 3 * apart, root(3));
          odd.add(first, second);
          first.subtract(first, second);
          // Times exp(±pi i / 2).
          const T sign = roots[n / 4].imag;
          second.real = first.imag * -sign;
          second.imag = first.real * sign;
          first.add(sum, odd);
          first.store(to, out);
          first.subtract(sum, odd);
          first.store(to, out + 2 * done);
          first.add(difference, second);
          first.store(to, out + done);
          first.subtract(difference, second);
          first.store(to, out + 3 * done);
          continue;
        }
        Each total = first;
        for (ptrdiff_t j = 1; 2 * j < radix; ++j) {
          Each a;
          Each b;
          Each sum;
          a.load(from, at + j * apart, root(j));
          b.load(from, at + (radix - j) * apart, root(radix - j));
          sum.add(a, b);
          sum.store(from, at + j * apart);
          a.subtract(a, b);
          a.store(from, at + (radix - j) * apart);
          total.add(total, sum);
        }
        total.store(to, out);
        for (ptrdiff_t step = 1; 2 * step < radix; ++step) {
          Each by_cosine = first;
          Each by_sine = {};
          ptrdiff_t power = 0;
          for (ptrdiff_t j = 1; 2 * j < radix; ++j) {
            power += step;
            if (power >= radix) power -= radix;
            const Point<T> factor = roots[power * (n / radix)];
            Each a;
            Each b;
            a.load(from, at + j * apart);
            b.load(from, at + (radix - j) * apart);
            by_cosine.real += a.real * factor.real;
            by_cosine.imag += a.imag * factor.real;
            by_sine.real -= b.imag * factor.imag;  // times i
            by_sine.imag += b.real * factor.imag;
          }
          Each result;
          result.add(by_cosine, by_sine);
          result.store(to, out + step * done);
          result.subtract(by_cosine, by_sine);
          result.store(to, out + (radix - step) * done);
        }
      }
    }
    const Lanes<T, kLanes> result = to;
    to = from;
    from = result;
    done = joined;
  }
  return from;
}
#else
// The same with the prime factors alone.
template <class T, ptrdiff_t kLanes>
[[gnu::always_inline]] inline Lanes<T, kLanes> transform(Lanes<T, kLanes> from, Lanes<T, kLanes> to,
                                                         const Point<T>* roots, ptrdiff_t n) {
  // With w = exp(-2 pi i / joined), or its conjugate, a pass computes from the transforms of `radix` parts
  //
  //   out[step] = sum over j < radix of w^(j step) * part_j[step % done]
  ptrdiff_t done = 1;
  while (done < n) {
    const ptrdiff_t radix = smallest_factor(n / done);
    const ptrdiff_t joined = done * radix;
    const ptrdiff_t groups = n / joined;
    const ptrdiff_t apart = groups * done;  // between the parts of a new group
    for (ptrdiff_t group = 0; group < groups; ++group) {
      const ptrdiff_t part = group * done;
      const ptrdiff_t out = group * joined;
      for (ptrdiff_t s = 0; s < done; ++s) {
        // The butterfly of two parts needs one product, as exp(pi i) is -1.
        if (radix == 2) {
          const Point<T> root = roots[s * groups];
          const T* const ar = from.real(part + s);
          const T* const ai = from.imag(part + s);
          const T* const br = from.real(part + s + apart);
          const T* const bi = from.imag(part + s + apart);
          for (ptrdiff_t l = 0; l < kLanes; ++l) {
            const T real = br[l] * root.real - bi[l] * root.imag;
            const T imag = br[l] * root.imag + bi[l] * root.real;
            to.real(out + s)[l] = ar[l] + real;
            to.imag(out + s)[l] = ai[l] + imag;
            to.real(out + s + done)[l] = ar[l] - real;
            to.imag(out + s + done)[l] = ai[l] - imag;
          }
          continue;
        }
        for (ptrdiff_t step = s; step < joined; step += done) {
          T real[kLanes];
          T imag[kLanes];
          for (ptrdiff_t l = 0; l < kLanes; ++l) {
            real[l] = from.real(part + s)[l];
            imag[l] = from.imag(part + s)[l];
          }
          ptrdiff_t power = 0;
          for (ptrdiff_t j = 1; j < radix; ++j) {
            power += step;
            if (power >= joined) power -= joined;
            // roots[power * groups] is the root of order `joined`, raised to `power`.
            const Point<T> root = roots[power * groups];
            const T* const br = from.real(part + s + j * apart);
            const T* const bi = from.imag(part + s + j * apart);
            for (ptrdiff_t l = 0; l < kLanes; ++l) {
              real[l] += br[l] * root.real - bi[l] * root.imag;
              imag[l] += br[l] * root.imag + bi[l] * root.real;
            }
          }
          for (ptrdiff_t l = 0; l < kLanes; ++l) {
            to.real(out + step)[l] = real[l];
            to.imag(out + step)[l] = imag[l];
          }
        }
      }
    }
    const Lanes<T, kLanes> result = to;
    to = from;
    from = result;
    done = joined;
  }
  return from;
}
#endif

// One transform, and kMostLanes of them in vectors of 32 bytes.
template <class T>
Lanes<T, 1> transform_one(Lanes<T, 1> from, Lanes<T, 1> to, const Point<T>* roots, ptrdiff_t n) {
  return transform(from, to, roots, n);
}
#ifndef __OPTIMIZE_SIZE__
template <class T>
constexpr ptrdiff_t kMostLanes = 32 / sizeof(T);
template <class T>
RL_LOOPS Lanes<T, kMostLanes<T>> transform_lanes(Lanes<T, kMostLanes<T>> from, Lanes<T, kMostLanes<T>> to,
                                                 const Point<T>* roots, ptrdiff_t n) {
  return transform(from, to, roots, n);
}
#endif

// One fiber in memory; `step` in bytes.
struct Strided {
  char* data;
  ptrdiff_t step;
  ptrdiff_t size;
  bool is_complex;

  template <class T>
  [[nodiscard]] Point<T> get(ptrdiff_t k) const {
    const T* at = reinterpret_cast<const T*>(data + k * step);
    return {at[0], is_complex ? at[1] : T(0)};
  }
  template <class T>
  void set(ptrdiff_t k, const Point<T>& value) const {
    T* at = reinterpret_cast<T*>(data + k * step);
    at[0] = value.real;
    if (is_complex) at[1] = value.imag;
  }
};

// Loads a fiber into lane `l`.
template <class T, ptrdiff_t kLanes>
void load(const Strided& fiber, Lanes<T, kLanes> points, ptrdiff_t l, ptrdiff_t n, bool mirrored) {
  // The inverse transform of real values: x[n - k] is the conjugate of x[k], so half of them suffice.
  const ptrdiff_t given = mirrored ? n / 2 + 1 : n;
  for (ptrdiff_t k = 0; k < given; ++k) {
    const Point<T> point = fiber.get<T>(k);
    points.real(k)[l] = point.real;
    points.imag(k)[l] = point.imag;
  }
  if (!mirrored) return;
  // Elements that are their own mirror image are real.
  points.imag(0)[l] = 0;
  for (ptrdiff_t k = (n + 1) / 2; k < n; ++k) {
    points.real(k)[l] = points.real(n - k)[l];
    points.imag(k)[l] = -points.imag(n - k)[l];
  }
  if (n % 2 == 0) points.imag(n / 2)[l] = 0;
}

template <class T, ptrdiff_t kLanes>
void store(const Strided& fiber, Lanes<T, kLanes> points, ptrdiff_t l, T factor) {
  for (ptrdiff_t k = 0; k < fiber.size; ++k) {
    fiber.set<T>(k, {points.real(k)[l] * factor, points.imag(k)[l] * factor});
  }
}

}  // namespace

Error Fourier::plan(Span<const int64_t> dims, int64_t normalization, const Shape& sizes) {
  RL_CHECK(normalization >= 0 && normalization <= 2, Error::InvalidArgument,
           "normalization: expected 0, 1 or 2, got %ld", static_cast<long>(normalization));
  double elements = 1;
  uint32_t seen = 0;
  for (const int64_t dim : dims) {
    RL_CHECK(dim >= 0 && dim < static_cast<int64_t>(sizes.dim) && ((seen >> dim) & 1u) == 0,
             Error::InvalidArgument, "dim: expected different ones of %ld dimensions, got %ld",
             static_cast<long>(sizes.dim), static_cast<long>(dim));
    seen |= uint32_t{1} << dim;
    dims_[count_] = static_cast<size_t>(dim);
    sizes_[count_] = sizes.sizes[dim];
    RL_CHECK(sizes_[count_] >= 1, Error::InvalidArgument, "dim %ld: expected at least 1 element, got %ld",
             static_cast<long>(dim), static_cast<long>(sizes_[count_]));
    // In double, since the product may exceed 64 bits.
    elements *= static_cast<double>(sizes_[count_]);
    ++count_;
  }
  left_ = count_;
  // The factor of all dimensions is applied at once, by the last transform.
  if (normalization == 1) scale_ = 1 / std::sqrt(elements);
  if (normalization == 2) scale_ = 1 / elements;
  return Error::Ok;
}

Error Fourier::reserve(KernelContext& context, ScalarType component, size_t extra) {
  size_t points = 0;
  for (size_t i = 0; i < count_; ++i) {
    if (points < static_cast<size_t>(sizes_[i])) points = static_cast<size_t>(sizes_[i]);
  }
  const size_t point = 2 * element_size(component);
  // Without memory for all lanes, transforms take one.
  size_t own = 0;
#ifdef __OPTIMIZE_SIZE__
  constexpr ptrdiff_t most = 1;
#else
  const ptrdiff_t most = static_cast<ptrdiff_t>(32 / element_size(component));
#endif
  for (lanes_ = most; scratch_ == nullptr; lanes_ = 1) {
    own = (1 + 2 * static_cast<size_t>(lanes_)) * points;
    const size_t bytes = (own + extra) * point;
    scratch_ = bytes <= sizeof small_ ? small_ : static_cast<char*>(context.allocate_temp(bytes));
    if (scratch_ != nullptr) break;
    RL_CHECK(lanes_ > 1, Error::MemoryAllocationFailed, "out of scratch memory: need %lu bytes",
             static_cast<unsigned long>(bytes));
  }
  extra_ = scratch_ + own * point;
  return Error::Ok;
}

Error Fourier::run(const View& source, const View& target, size_t index, bool forward, bool mirrored) {
  const size_t dim = dims_[index];
  const ptrdiff_t n = sizes_[index];
  const double scale = --left_ == 0 ? scale_ : 1;
  Strided in{nullptr, source.strides[dim], source.sizes[dim], is_complex(source.type)};
  Strided out{nullptr, target.strides[dim], target.sizes[dim], is_complex(target.type)};
  return dispatch<kTypes>(component_type(target.type), [&](auto type) {
    using T = typename decltype(type)::Element;
    // Scratch memory: [n] roots and two buffers [n] of lanes, between which the passes alternate.
    auto* const roots = reinterpret_cast<Point<T>*>(scratch_);
    fill_roots(roots, n, forward);
    const auto factor = static_cast<T>(scale);
    View rest = source;
    View rest_of_target = target;
    PairedLoops(rest_of_target.select(dim, 0), rest.select(dim, 0))
        .for_each_span([&](char* to, const char* from, const auto& loop) {
          auto* const first = reinterpret_cast<T*>(roots + n);
          const auto select = [&](ptrdiff_t i) {
            in.data = const_cast<char*>(from + i * loop.source);
            out.data = to + i * loop.target;
          };
          ptrdiff_t i = 0;
#ifndef __OPTIMIZE_SIZE__
          // Two fibers or more fill the lanes; the lanes of missing ones repeat the last.
          for (; loop.size - i > 1 && lanes_ > 1 && ukernel::runs_loops();
               i += std::min(loop.size - i, kMostLanes<T>)) {
            constexpr ptrdiff_t kCount = kMostLanes<T>;
            using Wide = Lanes<T, kCount>;
            const ptrdiff_t count = std::min(loop.size - i, kCount);
            for (ptrdiff_t l = 0; l < kCount; ++l) {
              select(i + std::min(l, count - 1));
              load(in, Wide{first}, l, n, mirrored);
            }
            const Wide result = transform_lanes(Wide{first}, Wide{first + 2 * kCount * n}, roots, n);
            for (ptrdiff_t l = 0; l < count; ++l) {
              select(i + l);
              store(out, result, l, factor);
            }
          }
#endif
          for (; i < loop.size; ++i) {
            using One = Lanes<T, 1>;
            select(i);
            load(in, One{first}, 0, n, mirrored);
            store(out, transform_one(One{first}, One{first + 2 * n}, roots, n), 0, factor);
          }
        });
    return Error::Ok;
  });
}

}  // namespace rushlight::kernels
