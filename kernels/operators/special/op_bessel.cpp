// SPDX-License-Identifier: BSD-3-Clause
// Bessel functions of order 0 and 1, and the Airy function Ai, in double. Two polynomials for each function,
// of which the one for small x multiplies or adds what is not smooth at 0, and the one for large x is in 1 /
// x, after the asymptotic expansions (DLMF 10.8, 10.17, 10.25, 10.31, 10.40 and 9.7). Near zeros the error is
// about 1e-15 of the amplitude, elsewhere of the value.
#include <cmath>
#include <cstddef>
#include <utility>

#include "kernels/math/double_function.h"
#include "kernels/math/rounding.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

constexpr double kPi = 3.14159265358979323846;

// The sum of coefficients[k] t^k for t in [-1, 1], even and odd powers in two chains.
template <size_t kSize>
double series(const double (&coefficients)[kSize], double t) {
  const double square = t * t;
  size_t k = kSize - kSize % 2;
  double even = kSize % 2 != 0 ? coefficients[kSize - 1] : 0;
  double odd = 0;
  for (; k > 0; k -= 2) {
    odd = odd * square + coefficients[k - 1];
    even = even * square + coefficients[k - 2];
  }
  return even + odd * t;
}

// All tables interpolate at 48 Chebyshev nodes in 40 digits (mpmath); terms below 3e-17 of the largest value
// are cut off, and the sum of Chebyshev polynomials is written in powers of t.

// For x < 8, by t = x^2 / 32 - 1: J0, J1 / x, Y0 - 2 / pi log(x / 2) J0, and (Y1 - 2 / pi (log(x / 2) J1 - 1
// / x)) / x.
constexpr double kJ0[] = {
    0.045829664859813754,   0.9303012472958572,     -0.6484692830871821,    -0.8080888076696872,
    1.0383794611436883,     -0.5074680458471,       0.14598884856785538,    -0.028472718610882047,
    0.004058078988108771,   -0.0004435459224311503, 3.847320005801417e-05,  -2.717749223632098e-06,
    1.5955848859935914e-07, -7.91532308295207e-09,  3.3794626319436793e-10, -1.243301171273326e-11};
constexpr double kJ1[] = {
    -0.05814382795599107,  0.08105866038589796,    0.15151665143806636,    -0.2595948652859303,
    0.15858376432721838,   -0.05474581821284722,   0.012456814392263375,   -0.0020290394945705996,
    0.0002494945813597261, -2.404574865968694e-05, 1.8684526037206013e-06, -1.196708186787801e-07,
    6.431190177265836e-09, -2.943013798001659e-10, 1.1658972367678622e-11, -4.0045728425886457e-13};
constexpr double kY0[] = {-0.3620273432371452,     -0.4179207423206952,     1.3609456599655456,
                          -0.21245999442065944,    -0.6193407826303358,     0.4482460446356314,
                          -0.15453679652310554,    0.03380285696399606,     -0.005235027670798993,
                          0.0006104345643799194,   -5.5818304627065164e-05, 4.1220543483587725e-06,
                          -2.5144107029169115e-07, 1.2898070896458873e-08,  -5.646268915099188e-10,
                          2.144060805263636e-11,   -7.073366667072138e-13};
constexpr double kY1[] = {
    0.04510266206869483,     -0.20760857842830602,  0.09022750636730927,    0.12052035426888161,
    -0.12641995056569705,    0.054390116307946296,  -0.014131923394262676,  0.0025271340466828155,
    -0.0003337225700557392,  3.406363375316396e-05, -2.776505699433099e-06, 1.852420184052382e-07,
    -1.0315248358181181e-08, 4.871020797907703e-10, -1.985054673070058e-11, 6.992898479018741e-13};
// Hankel's P and Q x / 8 for x >= 8, by t = 2 (8 / x)^2 - 1, and by order.
constexpr double kP0[] = {0.9994572757882519,      -0.0005363673192129672, 6.137416081283524e-06,
                          -2.0527448261170675e-07, 1.2803747743828764e-08, -1.2121098178951377e-09,
                          1.550640953808597e-10,   -2.491146535471666e-11, 4.674289307624388e-12,
                          -1.0157485021065676e-12, 3.455012974455743e-13,  -1.0251790052831013e-13};
constexpr double kQ0[] = {-0.015555113879513518,  6.833149099344083e-05,  -1.477138832650122e-06,
                          7.106214852192226e-08,  -5.668716046704292e-09, 6.432789503382007e-10,
                          -9.4704131236215e-11,   1.7029372022291316e-11, -3.5884013838881433e-12,
                          8.689732394690306e-13,  -2.34205092942912e-13,  5.756325587995953e-14,
                          -1.642189437353317e-14, 1.2731367623367943e-14, -5.071762053003792e-15};
constexpr double kP1[] = {1.0009070262780821,      0.0008988049416705183,   -7.959694699684788e-06,
                          2.453676633366693e-07,   -1.4708498448932155e-08, 1.3602969253877949e-09,
                          -1.7137279585997966e-10, 2.72345126828134e-11,    -5.071495295696752e-12,
                          1.0954826479277623e-12,  -3.697244591244297e-13,  1.0923713653079462e-13};
constexpr double kQ1[] = {0.04677687402744898,    -9.621458822054632e-05,  1.8212018511674905e-06,
                          -8.291960701313517e-08, 6.420133519314915e-09,   -7.151113611051071e-10,
                          1.0394482901993273e-10, -1.8520736145988993e-11, 3.8929927766683146e-12,
                          -9.33138059712287e-13,  2.2462055932168237e-13,  -6.144675787095688e-14,
                          3.620117603894229e-14,  -1.3449019339973269e-14};
// exp(-x) I0 and exp(-x) I1 / x for x < 8, by t = x / 4 - 1; sqrt(x) exp(-x) I for x >= 8, by t = 16 / x - 1.
constexpr double kI0[] = {
    0.2070019212239867,    -0.11300432688620536,    0.09451562853995103,    -0.08904344136077755,
    0.08734341617552313,   -0.08496338091541732,    0.07927522590716347,    -0.06954119563168235,
    0.05677703201991695,   -0.0429859492954222,     0.030177912022978357,   -0.019682655791721182,
    0.011960077907026221,  -0.006792394790940051,   0.003617126448897043,   -0.0018119030567637056,
    0.0008563152748272306, -0.00038286526498299526, 0.00016240542162878106, -6.556805964401791e-05,
    2.520232727107692e-05, -9.183742586936203e-06,  3.2293390826404927e-06, -1.142045323881917e-06,
    3.675842926555429e-07, -8.591406444264668e-08,  2.6265363151970112e-08, -1.6316042856792757e-08,
    4.470516727511741e-09};
constexpr double kI1[] = {
    0.04468770987560883,    -0.061124338029666284,   0.06805759990951268,    -0.06848260620582691,
    0.06376740371333643,    -0.055280039226991644,   0.04467457262306667,    -0.03367135552108536,
    0.02368601693352639,    -0.015571309243980052,   0.009583962344356725,   -0.005534567847563678,
    0.003005761416447221,   -0.00153887456203039,    0.0007445158727006065,  -0.0003411760289073331,
    0.00014841259927108295, -6.142360299099794e-05,  2.42486684188831e-05,   -9.136543922789093e-06,
    3.2758438130588964e-06, -1.1327072698408053e-06, 3.9094375480236725e-07, -1.2424759932738304e-07,
    2.987385645901576e-08,  -8.984420960424589e-09,  5.2131237878886215e-09, -1.41695079121077e-09};
constexpr double kLargeI0[] = {
    0.4021765094450081,      0.0033605519836677504,  0.00013621607438984735,  1.1143033800708978e-05,
    1.4838476651250266e-06,  2.973596046562712e-07,  8.872034383314144e-08,   3.932889375114634e-08,
    2.1566251453104354e-08,  7.534355843803342e-09,  -6.8493381882867694e-09, -1.3326094405766387e-08,
    -5.0381064879032845e-09, 7.3359687108161536e-09, 6.560138746917057e-09,   -3.1346276429240787e-09,
    -4.575553424534973e-09,  1.1050558794424347e-09, 2.1968921378829006e-09,  -2.8033819978869995e-10,
    -6.633287112547084e-10,  3.629355229718733e-11,  9.36508689281819e-11};
constexpr double kLargeI1[] = {
    0.38939845902587233,     -0.009749577193235635,   -0.0002192357638317243, -1.5038547209501858e-05,
    -1.8349102358955385e-06, -3.4838534380376333e-07, -1.000109565963654e-07, -4.313196489977733e-08,
    -2.339250374801858e-08,  -8.409182040442918e-09,  6.8401389977069586e-09, 1.3958551001385955e-08,
    5.59337010179061e-09,    -7.44444147719727e-09,   -6.983839624895866e-09, 3.086886736722725e-09,
    4.810597405089944e-09,   -1.0594544160443166e-09, -2.297004161885201e-09, 2.6340771095136483e-10,
    6.917089294193807e-10,   -3.365431853180176e-11,  -9.752397204138194e-11};
#ifndef __OPTIMIZE_SIZE__
// I0 and I1 in the same forms, with relative errors of 2^-31 for float32 results; fitted to the least largest
// error.
constexpr double kNarrowI0[] = {
    0.20700192116298116,   -0.11300432724290482,    0.09451564146341705,   -0.0890434207059722,
    0.08734296799572054,   -0.08496370776608984,    0.07928120828733297,   -0.0695391206049436,
    0.0567367972370735,    -0.04299112325732565,    0.030332019399507092,  -0.019684810089592806,
    0.011604414953700416,  -0.006751390860153569,   0.004117852386875826,  -0.0019079244837172948,
    0.0004408762422461814, -0.00027790141647742557, 0.0003421916060889229, -0.00012038250149620122};
constexpr double kNarrowI1[] = {
    0.04468770987266579,    -0.06112433815199053,    0.06805760065918663,   -0.06848259828194905,
    0.06376737340811124,    -0.055280185776457665,   0.04467503120939076,   -0.033670159425743675,
    0.023682597008100402,   -0.015576401585532779,   0.00959824052836763,   -0.005522548569280212,
    0.0029703084309142948,  -0.0015541698210446101,  0.0007977021004284732, -0.00033303509762081413,
    0.00010167807067203422, -5.9239376745717725e-05, 4.566450400577201e-05, -1.3418046552056571e-05};
constexpr double kNarrowLargeI0[] = {0.40217650941750555,    0.003360552210603515,   0.00013621718723641154,
                                     1.1140070378158608e-05, 1.4760384973008648e-06, 3.0681267124469515e-07,
                                     1.0877426535664314e-07, 3.192298475706071e-08,  -4.019552281885126e-11};
constexpr double kNarrowLargeI1[] = {
    0.3893984590547923,      -0.00974957742275375,    -0.00021923694485922953,
    -1.5035547953224786e-05, -1.8266266088243568e-06, -3.578622580596326e-07,
    -1.212099344161914e-07,  -3.6104417400415146e-08, -7.668542125738906e-10};
#endif
// K0 + log(x / 2) I0 and x (K1 - log(x / 2) I1) for x < 2, by t = x^2 / 2 - 1; sqrt(x) exp(x) K for x >= 2,
// by t = 4 / x - 1.
constexpr double kK0[] = {-0.30362077291575545,  0.3404973210133806,    0.07177701034240509,
                          0.005053392643196092,  0.0001828055582791554, 4.054506619949891e-06,
                          6.093361894172114e-08, 6.623013272794453e-10, 5.452564662772586e-12,
                          3.518631515854722e-14};
constexpr double kK1[] = {0.8850882877295894,     -0.3322409552403131,    -0.2438385288677433,
                          -0.02785423521977184,   -0.001383168846618116,  -3.891869064371633e-05,
                          -7.081133691517408e-07, -9.032127501740678e-09, -8.533634168575142e-11,
                          -6.214271617329577e-13};
constexpr double kLargeK0[] = {
    1.2185953385133905,     -0.031071461824889898,   0.0030328918102753206, -0.0004797690567328844,
    9.95605474202942e-05,   -2.473520542848972e-05,  7.002245645755651e-06, -2.1911673837417864e-06,
    7.427801232190096e-07,  -2.689759865539584e-07,  1.02954317593912e-07,  -4.1056738724915364e-08,
    1.7047535884249698e-08, -8.025205604904476e-09,  3.808399859919043e-09, -6.643878631843235e-10,
    4.757544705776374e-11,  -1.2366923277096287e-09, 8.133913205464114e-10, 4.3927260002107633e-10,
    -3.119936129682105e-10, -1.7597528809195706e-10, 1.0926983537268735e-10};
constexpr double kLargeK1[] = {
    1.363151890371342,       0.10334973775386565,    -0.005566729880074588,   0.0007357241548718385,
    -0.00013959021956272223, 3.2843866502355955e-05, -8.961207387750025e-06,  2.7300301043527215e-06,
    -9.067087633371393e-07,  3.230567198853934e-07,  -1.2203186351938403e-07, 4.815434679085478e-08,
    -1.9817577141591116e-08, 9.213894020289533e-09,  -4.331939985658629e-09,  7.966242798504094e-10,
    -8.336227195991456e-11,  1.3615859404460648e-09, -8.908596710923906e-10,  -4.77441121785095e-10,
    3.3867804167808003e-10,  1.9273808087540517e-10, -1.1931668393112158e-10};
// sqrt(2 zeta / pi) exp(zeta) K(1/3, zeta) for zeta >= 2/3, by t = 4/3 / zeta - 1.
constexpr double kAiry[] = {
    0.9606660365121796,      -0.031034618880733878,   0.005701191519489761,   -0.0016060475719860015,
    0.0005631879652608873,   -0.0002266860056069735,  0.000100493408690806,   -4.788946428039331e-05,
    2.414906864791975e-05,   -1.2746876979432517e-05, 7.005927299515875e-06,  -3.9899792830327804e-06,
    2.181479223590645e-06,   -1.1414778285974895e-06, 1.5890391665906879e-06, -1.7973608721233181e-06,
    -2.9487153600990784e-06, 4.896729215205885e-06,   1.0659946250243165e-05, -1.5310007938314096e-05,
    -2.5127095616622627e-05, 3.409589713060934e-05,   4.5171852818613375e-05, -5.7793492499839204e-05,
    -6.033784213998998e-05,  7.33755879417406e-05,    5.9340210781812405e-05, -6.890211777224448e-05,
    -4.1686099141740106e-05, 4.6416642457906696e-05,  1.984381236512377e-05,  -2.1256463601944903e-05,
    -5.745366337165456e-06,  5.936374996984529e-06,   7.687781825253118e-07,  -7.671305982292389e-07};

// The sums p and q of Hankel's expansion for large x (DLMF 10.17.3 and 10.17.4), and the parts of the wave:
// the cosine and the sine of x - pi / 4, or of x - 3 pi / 4 for order 1. They are sums of the cosine and sine
// of x, so that the difference is never rounded.
struct Wave {
  double p, q, cosine, sine;

  Wave(int order, double x) {
    const double z = 8 / x;
    const double t = 2 * z * z - 1;
    const double amplitude = 1 / std::sqrt(kPi * x);
    const double c = amplitude * std::cos(x);
    const double s = amplitude * std::sin(x);
    p = order == 0 ? series(kP0, t) : series(kP1, t);
    q = z * (order == 0 ? series(kQ0, t) : series(kQ1, t));
    cosine = order == 0 ? s + c : s - c;
    sine = order == 0 ? s - c : -(s + c);
  }
};

double small_j(int order, double x, double t) { return order == 0 ? series(kJ0, t) : x * series(kJ1, t); }

double bessel_j(int order, double x) {
  const double size = std::fabs(x);
  double result;
  if (size < 8) {
    result = small_j(order, size, size * size / 32 - 1);
  } else {
    const Wave wave(order, size);
    result = wave.p * wave.cosine - wave.q * wave.sine;
  }
  return order == 1 && x < 0 ? -result : result;
}

double bessel_y(int order, double x) {
  if (!(x > 0)) return x == 0 ? -HUGE_VAL : NAN;
  if (x >= 8) {
    const Wave wave(order, x);
    return wave.p * wave.sine + wave.q * wave.cosine;
  }
  const double t = x * x / 32 - 1;
  const double singular = std::log(x / 2) * small_j(order, x, t);
  if (order == 0) return 2 / kPi * singular + series(kY0, t);
  return 2 / kPi * (singular - 1 / x) + x * series(kY1, t);
}

double bessel_j0(double x) { return bessel_j(0, x); }
double bessel_j1(double x) { return bessel_j(1, x); }
double bessel_y0(double x) { return bessel_y(0, x); }
double bessel_y1(double x) { return bessel_y(1, x); }

// exp(-|x|) I.
double scaled_i(int order, double x) {
  const double size = std::fabs(x);
  double result;
  if (size < 8) {
    const double t = size / 4 - 1;
    result = order == 0 ? series(kI0, t) : size * series(kI1, t);
  } else {
    const double t = 16 / size - 1;
    result = (order == 0 ? series(kLargeI0, t) : series(kLargeI1, t)) / std::sqrt(size);
  }
  return order == 1 && x < 0 ? -result : result;
}

#ifndef __OPTIMIZE_SIZE__
// The same for float32 results, without branches or loops, so that loops over it vectorize.
template <size_t kSize, size_t... I>
[[gnu::always_inline]] inline double unrolled(const double (&coefficients)[kSize], double t,
                                              std::index_sequence<I...>) {
  double sum = 0;
  ((sum = sum * t + coefficients[kSize - 1 - I]), ...);
  return sum;
}
template <size_t kSize>
[[gnu::always_inline]] inline double unrolled(const double (&coefficients)[kSize], double t) {
  return unrolled(coefficients, t, std::make_index_sequence<kSize>());
}
template <int kOrder>
[[gnu::always_inline]] inline float narrow_scaled_i(float x) {
  // Selections are sums of which one term is masked to 0.
  const double size = std::fabs(double{x});
  const bool is_near = size < 8;
  const double below = internal::value_if(is_near, size);
  const double above = internal::value_if(!is_near, size) + internal::value_if(is_near, 8.0);
  const double scale = kOrder == 0 ? 1.0 : below;
  const double near = scale * unrolled(kOrder == 0 ? kNarrowI0 : kNarrowI1, below / 4 - 1);
  const double inverse = 1 / above;
  const double far =
      unrolled(kOrder == 0 ? kNarrowLargeI0 : kNarrowLargeI1, 16 * inverse - 1) * std::sqrt(inverse);
  const double value = internal::value_if(is_near, near) + internal::value_if(!is_near, far);
  return static_cast<float>(kOrder == 0 ? value : std::copysign(value, double{x}));
}

// exp(-|x|) I. Float32 has a separate loop.
template <TypeSet kTypes, int kOrder>
Error scaled_function(const Tensor& self, const Tensor& out) {
  if (!contains(kTypes, self.scalar_type())) return unsupported_type(self.scalar_type());
  const auto f = [](auto x) __attribute__((always_inline)) {
    if constexpr (sizeof(x) == sizeof(float)) return narrow_scaled_i<kOrder>(x);
    return static_cast<decltype(x)>(scaled_i(kOrder, x));
  };
  return elementwise_floating<kTypes>(out, f, self);
}
#else
double i0e(double x) { return scaled_i(0, x); }
double i1e(double x) { return scaled_i(1, x); }

template <TypeSet kTypes, int kOrder>
Error scaled_function(const Tensor& self, const Tensor& out) {
  return double_function < kTypes, kOrder == 0 ? i0e : i1e > (self, out);
}
#endif

double unscaled_i(int order, double x) {
  const double half = std::exp(std::fabs(x) / 2);  // exp(|x|) may overflow where the product does not
  return scaled_i(order, x) * half * half;
}

double bessel_i0(double x) { return unscaled_i(0, x); }
double bessel_i1(double x) { return unscaled_i(1, x); }

// K, or exp(x) K.
double bessel_k(int order, double x, bool is_scaled) {
  if (!(x > 0)) return x == 0 ? HUGE_VAL : NAN;
  if (x >= 2) {
    const double t = 4 / x - 1;
    const double scaled = (order == 0 ? series(kLargeK0, t) : series(kLargeK1, t)) / std::sqrt(x);
    return is_scaled ? scaled : scaled * std::exp(-x);
  }
  const double t = x * x / 2 - 1;
  const double exponential = std::exp(x);
  const double singular = std::log(x / 2) * scaled_i(order, x) * exponential;
  const double result = order == 0 ? series(kK0, t) - singular : series(kK1, t) / x + singular;
  return is_scaled ? result * exponential : result;
}

// Ai(x) = c1 f(x) - c2 g(x), where f and g are the solutions of y'' = x y with values 1, 0 and slopes 0, 1 at
// 0; c1 and c2 are Ai(0) and -Ai'(0). DLMF 9.4.1.
double airy_by_power_series(double x) {
  constexpr double kAtZero = 0.35502805388781723926;
  constexpr double kSlope = 0.25881940379280679841;
  const double cube = x * x * x;
  double even = kAtZero;
  double odd = kSlope * x;
  double sum = even - odd;
  for (int k = 3; std::fabs(even) + std::fabs(odd) > 1e-17; k += 3) {
    even *= cube / ((k - 1) * k);
    odd *= cube / (k * (k + 1));
    sum += even - odd;
  }
  return sum;
}

// The terms of Hankel's expansion of order 1/3, summed by index modulo 2 with signs that alternate in pairs.
struct AiryWave {
  double p = 1;
  double q = 0;

  explicit AiryWave(double zeta) {
    double term = 1;
    for (int k = 1; k < 64; ++k) {
      const double odd = 2 * k - 1;
      const double next = term * (4.0 / 9 - odd * odd) / (8 * k * zeta);
      // The series is asymptotic and diverges in the end, so the sum stops at its smallest term.
      if (std::fabs(next) >= std::fabs(term) && k > 1) break;
      term = next;
      (k % 2 == 0 ? p : q) += k % 4 < 2 ? term : -term;
      if (std::fabs(term) < 1e-17) break;
    }
  }
};

// Below -1 the power series loses digits while the expansion gains them; at -6.9 both are right to about
// 1e-11. From 1 on, Ai(x) = sqrt(x / 3) K(1/3, zeta) / pi with zeta = 2/3 x^(3/2) (DLMF 9.6.2).
double airy(double x) {
  if (x >= -6.9 && x < 1) return airy_by_power_series(x);
  if (std::isinf(x)) return NAN;
  const double size = std::fabs(x);
  const double root = std::sqrt(size);
  const double zeta = 2.0 / 3 * size * root;
  const double amplitude = 1 / std::sqrt(kPi * root);
  if (x > 0) return amplitude / 2 * series(kAiry, 4.0 / 3 / zeta - 1) * std::exp(-zeta);
  const AiryWave sums(zeta);
  const double phase = zeta - kPi / 4;
  return amplitude * (sums.p * std::cos(phase) - sums.q * std::sin(phase));
}

double modified_bessel_k0(double x) { return bessel_k(0, x, false); }

double modified_bessel_k1(double x) { return bessel_k(1, x, false); }

double scaled_modified_bessel_k0(double x) { return bessel_k(0, x, true); }

double scaled_modified_bessel_k1(double x) { return bessel_k(1, x, true); }

}  // namespace

Error special_bessel_j0_out(KernelContext&, const Tensor& self, Tensor& out) {
  return double_function<selected_types("aten::special_bessel_j0.out"), bessel_j0>(self, out);
}

Error special_bessel_j1_out(KernelContext&, const Tensor& self, Tensor& out) {
  return double_function<selected_types("aten::special_bessel_j1.out"), bessel_j1>(self, out);
}

Error special_bessel_y0_out(KernelContext&, const Tensor& self, Tensor& out) {
  return double_function<selected_types("aten::special_bessel_y0.out"), bessel_y0>(self, out);
}

Error special_bessel_y1_out(KernelContext&, const Tensor& self, Tensor& out) {
  return double_function<selected_types("aten::special_bessel_y1.out"), bessel_y1>(self, out);
}

Error i0_out(KernelContext&, const Tensor& self, Tensor& out) {
  return double_function<selected_types("aten::i0.out"), bessel_i0>(self, out);
}

Error special_i1_out(KernelContext&, const Tensor& self, Tensor& out) {
  return double_function<selected_types("aten::special_i1.out"), bessel_i1>(self, out);
}

Error special_modified_bessel_i0_out(KernelContext&, const Tensor& self, Tensor& out) {
  return double_function<selected_types("aten::special_modified_bessel_i0.out"), bessel_i0>(self, out);
}

Error special_modified_bessel_i1_out(KernelContext&, const Tensor& self, Tensor& out) {
  return double_function<selected_types("aten::special_modified_bessel_i1.out"), bessel_i1>(self, out);
}

Error special_i0e_out(KernelContext&, const Tensor& self, Tensor& out) {
  return scaled_function<selected_types("aten::special_i0e.out"), 0>(self, out);
}

Error special_i1e_out(KernelContext&, const Tensor& self, Tensor& out) {
  return scaled_function<selected_types("aten::special_i1e.out"), 1>(self, out);
}

Error special_modified_bessel_k0_out(KernelContext&, const Tensor& self, Tensor& out) {
  return double_function<selected_types("aten::special_modified_bessel_k0.out"), modified_bessel_k0>(self,
                                                                                                     out);
}

Error special_modified_bessel_k1_out(KernelContext&, const Tensor& self, Tensor& out) {
  return double_function<selected_types("aten::special_modified_bessel_k1.out"), modified_bessel_k1>(self,
                                                                                                     out);
}

Error special_scaled_modified_bessel_k0_out(KernelContext&, const Tensor& x, Tensor& out) {
  return double_function<selected_types("aten::special_scaled_modified_bessel_k0.out"),
                         scaled_modified_bessel_k0>(x, out);
}

Error special_scaled_modified_bessel_k1_out(KernelContext&, const Tensor& x, Tensor& out) {
  return double_function<selected_types("aten::special_scaled_modified_bessel_k1.out"),
                         scaled_modified_bessel_k1>(x, out);
}

Error special_airy_ai_out(KernelContext&, const Tensor& x, Tensor& out) {
  return double_function<selected_types("aten::special_airy_ai.out"), airy>(x, out);
}

}  // namespace rushlight::kernels
