// SPDX-License-Identifier: Apache-2.0
#include "saltus/expr/interval/interval.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <numbers>
#include <random>
#include <string>
#include <vector>

namespace saltus::expr::interval_test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double largest = std::numeric_limits<double>::max();
constexpr double tiny = std::numeric_limits<double>::denorm_min();
constexpr double pi = std::numbers::pi;  // the double, which lies below the number

::testing::AssertionResult is(const Interval& x, double lo, double hi, bool defined = true) {
    if (x.lo == lo && x.hi == hi && x.defined == defined) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << "[" << x.lo << ", " << x.hi << "]" << (x.defined ? "" : " undefined")
                                         << " instead of [" << lo << ", " << hi << "]" << (defined ? "" : " undefined");
}

// How many doubles further out than [lo, hi] the bounds are: the natural unit of tightness here.
::testing::AssertionResult is_within(int steps, const Interval& x, double lo, double hi) {
    double lowest = lo;
    double highest = hi;
    for (int i = 0; i < steps; ++i) {
        lowest = next_down(lowest);
        highest = next_up(highest);
    }
    if (lowest <= x.lo && x.lo <= lo && hi <= x.hi && x.hi <= highest) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << "[" << x.lo << ", " << x.hi << "] is not within " << steps
                                         << " neighbours around [" << lo << ", " << hi << "]";
}

// Boxes at all scales, chosen to hit what interval code gets wrong: points, neighbouring doubles, zeros as
// ends and inside, subnormals, multiples of pi/2, small integers, half lines, the whole line, the largest numbers.
class Boxes {
public:
    explicit Boxes(std::uint64_t seed) : bits_(seed) {}

    double unit() { return static_cast<double>(bits_() >> 11) * 0x1p-53; }
    int integer(int below) { return static_cast<int>(bits_() % static_cast<std::uint64_t>(below)); }
    double scaled(int exponent_range) {
        const double size = std::ldexp(1.0 + unit(), integer(2 * exponent_range + 1) - exponent_range);
        return integer(2) == 0 ? size : -size;
    }

    double number() {
        switch (integer(32)) {
            case 8: return integer(2) == 0 ? largest : -largest;
            case 9: return integer(2) == 0 ? tiny : -tiny;
            default: break;
        }
        switch (integer(8)) {
            case 0: return integer(21) - 10.0;
            case 1: return scaled(3);
            case 2: return scaled(30);
            case 3: return scaled(1000);
            case 4: return scaled(30) * 0x1p-1040;
            case 5: {
                double x = (integer(41) - 20) * (pi / 2);
                for (int i = integer(3); i > 0; --i) x = integer(2) == 0 ? next_up(x) : next_down(x);
                return x;
            }
            case 6: return 0.0;
            default: return 2.0 * unit() - 1.0;
        }
    }

    Interval box() {
        const double a = number();
        switch (integer(8)) {
            case 0:
            case 1: return point(a);
            case 2: return hull(a, next_up(a));
            case 3: return hull(a, a + std::fabs(a) * std::ldexp(unit(), -integer(50)));
            case 4: return hull(a, a + 4.0 * unit());
            case 5:
                if (integer(6) == 0) return entire();
                return integer(2) == 0 ? Interval(a, inf) : Interval(-inf, a);
            default: return hull(a, number());
        }
    }

    double inside(const Interval& x) {
        const double lo = std::max(x.lo, -largest);
        const double hi = std::min(x.hi, largest);
        switch (integer(5)) {
            case 0: return lo;
            case 1: return hi;
            case 2: {
                const double candidate = number();
                if (contains(x, candidate)) return candidate;
                break;
            }
            default: break;
        }
        const double t = integer(2) == 0 ? unit() : std::ldexp(unit(), -integer(40));
        return std::clamp(lo * (1.0 - t) + hi * t, lo, hi);
    }

private:
    std::mt19937_64 bits_;
};

constexpr int box_count = 20'000;

// The long double value carries 11 bits more than the bounds. For + - * / and sqrt it is the exact result
// rounded to a finer grid that contains the bounds, and rounding is monotone, so inclusion must hold without
// tolerance. For the library functions its error is about 2^-11 of a double's ulp, while computed bounds
// keep clear of the exact value by at least 2^-1 ulp unless they are exact. No tolerance there either.
bool reference_is_finer() { return std::numeric_limits<long double>::digits >= 64; }

bool holds(const Interval& range, long double value) {
    return static_cast<long double>(range.lo) <= value && value <= static_cast<long double>(range.hi);
}

bool well_formed(const Interval& x) { return x.lo <= x.hi && x.lo < inf && x.hi > -inf; }

struct Unary {
    std::string name;
    std::function<Interval(const Interval&)> on_box;
    std::function<long double(long double)> on_point;
    std::function<bool(double)> defined_at = [](double) { return true; };
};

const std::vector<Unary>& unary_functions() {
    const auto in_unit = [](double x) { return std::fabs(x) <= 1.0; };
    static const std::vector<Unary> functions{
        {"negate", [](const Interval& x) { return -x; }, [](long double x) { return -x; }},
        {"sqr", [](const Interval& x) { return sqr(x); }, [](long double x) { return x * x; }},
        {"sqrt", [](const Interval& x) { return sqrt(x); }, [](long double x) { return std::sqrt(x); },
         [](double x) { return x >= 0.0; }},
        {"exp", [](const Interval& x) { return exp(x); }, [](long double x) { return std::exp(x); }},
        {"log", [](const Interval& x) { return log(x); }, [](long double x) { return std::log(x); },
         [](double x) { return x > 0.0; }},
        {"sin", [](const Interval& x) { return sin(x); }, [](long double x) { return std::sin(x); }},
        {"cos", [](const Interval& x) { return cos(x); }, [](long double x) { return std::cos(x); }},
        {"tan", [](const Interval& x) { return tan(x); }, [](long double x) { return std::tan(x); }},
        {"asin", [](const Interval& x) { return asin(x); }, [](long double x) { return std::asin(x); }, in_unit},
        {"acos", [](const Interval& x) { return acos(x); }, [](long double x) { return std::acos(x); }, in_unit},
        {"atan", [](const Interval& x) { return atan(x); }, [](long double x) { return std::atan(x); }},
        {"sinh", [](const Interval& x) { return sinh(x); }, [](long double x) { return std::sinh(x); }},
        {"cosh", [](const Interval& x) { return cosh(x); }, [](long double x) { return std::cosh(x); }},
        {"tanh", [](const Interval& x) { return tanh(x); }, [](long double x) { return std::tanh(x); }},
        {"abs", [](const Interval& x) { return abs(x); }, [](long double x) { return std::fabs(x); }},
        {"sign", [](const Interval& x) { return sign(x); },
         [](long double x) { return static_cast<long double>((x > 0.0L) - (x < 0.0L)); }},
    };
    return functions;
}

struct Binary {
    std::string name;
    std::function<Interval(const Interval&, const Interval&)> on_box;
    std::function<long double(long double, long double)> on_point;
    std::function<bool(double, double)> defined_at = [](double, double) { return true; };
};

const std::vector<Binary>& binary_functions() {
    using L = long double;
    using I = const Interval&;
    static const std::vector<Binary> functions{
        {"add", [](I a, I b) { return a + b; }, [](L a, L b) { return a + b; }},
        {"subtract", [](I a, I b) { return a - b; }, [](L a, L b) { return a - b; }},
        {"multiply", [](I a, I b) { return a * b; }, [](L a, L b) { return a * b; }},
        {"divide", [](I a, I b) { return a / b; }, [](L a, L b) { return a / b; },
         [](double, double b) { return b != 0.0; }},
        {"min", [](I a, I b) { return min(a, b); }, [](L a, L b) { return std::min(a, b); }},
        {"max", [](I a, I b) { return max(a, b); }, [](L a, L b) { return std::max(a, b); }},
        {"hypot", [](I a, I b) { return hypot(a, b); }, [](L a, L b) { return std::hypot(a, b); }},
        {"atan2", [](I a, I b) { return atan2(a, b); }, [](L a, L b) { return std::atan2(a, b); },
         [](double a, double b) { return a != 0.0 || b != 0.0; }},
        {"pow", [](I a, I b) { return pow(a, b); }, [](L a, L b) { return std::pow(a, b); },
         [](double a, double b) { return a > 0.0 || (a == 0.0 ? b >= 0.0 : b == std::trunc(b)); }},
        {"less", [](I a, I b) { return less(a, b); }, [](L a, L b) { return L(a < b); }},
        {"less_equal", [](I a, I b) { return less_equal(a, b); }, [](L a, L b) { return L(a <= b); }},
        {"greater", [](I a, I b) { return greater(a, b); }, [](L a, L b) { return L(a > b); }},
        {"greater_equal", [](I a, I b) { return greater_equal(a, b); }, [](L a, L b) { return L(a >= b); }},
        {"equal", [](I a, I b) { return equal(a, b); }, [](L a, L b) { return L(a == b); }},
        {"not_equal", [](I a, I b) { return not_equal(a, b); }, [](L a, L b) { return L(a != b); }},
    };
    return functions;
}

TEST(Interval, EveryUnaryFunctionEnclosesItsValuesOnRandomBoxes) {
    if (!reference_is_finer()) GTEST_SKIP() << "long double is no finer than double here";
    for (const Unary& f : unary_functions()) {
        Boxes random(11);
        int violations = 0;
        int values = 0;
        for (int i = 0; i < box_count; ++i) {
            const Interval x = random.box();
            const Interval range = f.on_box(x);
            ASSERT_TRUE(well_formed(range)) << f.name << " of [" << x.lo << ", " << x.hi << "]";
            for (int k = 0; k < 3; ++k) {
                const double at = random.inside(x) + 0.0;
                if (!f.defined_at(at)) {
                    ASSERT_FALSE(range.defined) << f.name << " at " << at;
                    continue;
                }
                ++values;
                if (holds(range, f.on_point(at))) continue;
                ++violations;
                ADD_FAILURE() << f.name << " at " << at << " in [" << x.lo << ", " << x.hi << "]";
                if (violations > 3) return;
            }
        }
        EXPECT_GT(values, box_count / 2) << f.name << ": the sample misses the domain";
    }
}

TEST(Interval, EveryBinaryFunctionEnclosesItsValuesOnRandomBoxes) {
    if (!reference_is_finer()) GTEST_SKIP() << "long double is no finer than double here";
    for (const Binary& f : binary_functions()) {
        Boxes random(12);
        int violations = 0;
        int values = 0;
        for (int i = 0; i < box_count; ++i) {
            const Interval a = random.box();
            const Interval b = random.integer(8) == 0 ? a : random.box();
            const Interval range = f.on_box(a, b);
            ASSERT_TRUE(well_formed(range)) << f.name;
            for (int k = 0; k < 3; ++k) {
                const double at_a = random.inside(a) + 0.0;
                double at_b = random.inside(b) + 0.0;
                if (k == 0 && contains(b, std::nearbyint(at_b))) at_b = std::nearbyint(at_b) + 0.0;
                if (!f.defined_at(at_a, at_b)) {
                    ASSERT_FALSE(range.defined) << f.name << " at " << at_a << ", " << at_b;
                    continue;
                }
                ++values;
                if (holds(range, f.on_point(at_a, at_b))) continue;
                ++violations;
                ADD_FAILURE() << f.name << " at " << at_a << ", " << at_b << " in [" << a.lo << ", " << a.hi << "] x ["
                              << b.lo << ", " << b.hi << "]";
                if (violations > 3) return;
            }
        }
        EXPECT_GT(values, box_count / 2) << f.name << ": the sample misses the domain";
    }
}

TEST(Interval, IntegerPowersEncloseTheirValuesOnRandomBoxes) {
    if (!reference_is_finer()) GTEST_SKIP() << "long double is no finer than double here";
    Boxes random(13);
    for (int i = 0; i < 3 * box_count; ++i) {
        const Interval x = random.integer(4) == 0 ? point(1.0 + random.scaled(10) * 0x1p-20) : random.box();
        const int n = random.integer(4) == 0 ? random.integer(4001) - 2000 : random.integer(17) - 8;
        const Interval range = powi(x, n);
        ASSERT_TRUE(well_formed(range));
        const double at = random.inside(x) + 0.0;
        if (at == 0.0 && n < 0) {
            ASSERT_FALSE(range.defined);
        } else {
            ASSERT_TRUE(holds(range, std::pow(static_cast<long double>(at), n))) << at << "^" << n;
        }
    }
}

TEST(Interval, NeighboursAreTheAdjacentDoubles) {
    for (const double size : {0.0, tiny, 0x1p-1022, 1.0, largest, inf}) {
        for (const double x : {size, -size}) {
            EXPECT_EQ(next_up(x), std::nextafter(x, inf)) << x;
            EXPECT_EQ(next_down(x), std::nextafter(x, -inf)) << x;
        }
    }
}

TEST(Interval, ConstructionKeepsTheInvariant) {
    EXPECT_TRUE(is(Interval(), 0.0, 0.0));
    EXPECT_TRUE(is(3.0, 3.0, 3.0));
    EXPECT_TRUE(is(inf, largest, inf));
    EXPECT_TRUE(is(-inf, -inf, -largest));
    EXPECT_TRUE(is(std::numeric_limits<double>::quiet_NaN(), -inf, inf, false));
    EXPECT_TRUE(is(hull(2.0, -1.0), -1.0, 2.0));
    EXPECT_TRUE(is(hull(Interval(0.0, 1.0), Interval(3.0, 4.0, false)), 0.0, 4.0, false));
    EXPECT_TRUE(is(entire(), -inf, inf));
}

TEST(Interval, ContainsRealNumbersOnly) {
    EXPECT_TRUE(contains(Interval(1.0, 2.0), 1.0));
    EXPECT_TRUE(contains(Interval(1.0, 2.0), 2.0));
    EXPECT_FALSE(contains(Interval(1.0, 2.0), next_up(2.0)));
    EXPECT_FALSE(contains(entire(), inf));
    EXPECT_FALSE(contains(entire(), std::numeric_limits<double>::quiet_NaN()));
}

TEST(Interval, WidthIsAnUpperBoundAndMidpointIsInside) {
    EXPECT_EQ(width(Interval(1.0, 4.0)), 3.0);
    EXPECT_EQ(width(Interval(-0x1p-60, 1.0)), next_up(1.0));
    EXPECT_EQ(width(Interval(0.0, inf)), inf);
    EXPECT_EQ(width(Interval(-largest, largest)), inf);
    EXPECT_EQ(midpoint(Interval(1.0, 4.0)), 2.5);
    EXPECT_EQ(midpoint(Interval(-largest, largest)), 0.0);
    EXPECT_EQ(midpoint(entire()), 0.0);
    EXPECT_EQ(midpoint(Interval(1.0, inf)), largest);
    EXPECT_EQ(midpoint(Interval(-inf, 1.0)), -largest);
    Boxes random(14);
    for (int i = 0; i < box_count; ++i) {
        const Interval x = random.box();
        ASSERT_TRUE(contains(x, midpoint(x)));
    }
}

TEST(Interval, ExactArithmeticStaysAPoint) {
    for (int a = -40; a <= 40; ++a) {
        for (int b = -40; b <= 40; ++b) {
            ASSERT_TRUE(is(Interval(a) + Interval(b), a + b, a + b));
            ASSERT_TRUE(is(Interval(a) - Interval(b), a - b, a - b));
            ASSERT_TRUE(is(Interval(a) * Interval(b), a * b, a * b));
            if (b == 0) continue;
            ASSERT_TRUE(is(Interval(a * b) / Interval(b), a, a));
        }
    }
    EXPECT_TRUE(is(Interval(0.1) + 0.0, 0.1, 0.1));
    EXPECT_TRUE(is(Interval(0.1) * 1.0, 0.1, 0.1));
    EXPECT_TRUE(is(Interval(0.1) * -8.0, -0.8, -0.8));
    EXPECT_TRUE(is(Interval(0.1) / 4.0, 0.025, 0.025));
    EXPECT_TRUE(is(Interval(0.1) * 0.0, 0.0, 0.0));
    EXPECT_TRUE(is(sqr(Interval(-12345.0)), 152399025.0, 152399025.0));
    EXPECT_TRUE(is(powi(Interval(3.0), 30), 205891132094649.0, 205891132094649.0));
    EXPECT_TRUE(is(powi(Interval(-2.0), -3), -0.125, -0.125));
    EXPECT_TRUE(is(sqrt(Interval(49.0)), 7.0, 7.0));
    EXPECT_TRUE(is(hypot(Interval(-3.0), Interval(4.0)), 5.0, 5.0));
}

TEST(Interval, InexactSumsMoveOnlyTheBoundThatNeedsIt) {
    EXPECT_TRUE(is(Interval(1.0) + 0x1p-60, 1.0, next_up(1.0)));
    EXPECT_TRUE(is(Interval(1.0) - 0x1p-60, next_down(1.0), 1.0));
    EXPECT_TRUE(is(Interval(1e300) + 1e-300, 1e300, next_up(1e300)));
}

TEST(Interval, OverflowAndUnderflowKeepTheEnclosureAndTheSign) {
    EXPECT_TRUE(is(Interval(largest) + largest, largest, inf));
    EXPECT_TRUE(is(Interval(largest) * -2.0, -inf, -largest));
    EXPECT_TRUE(is(Interval(tiny) * 0.5, 0.0, tiny));
    EXPECT_TRUE(is(Interval(tiny) * -0.5, -tiny, 0.0));
    EXPECT_TRUE(is(Interval(tiny) / 2.0, 0.0, tiny));
    EXPECT_TRUE(is(Interval(1.0) / tiny, largest, inf));
    EXPECT_TRUE(is(sqr(Interval(tiny)), 0.0, tiny));
    // 2^-1022 is the rounded value although bits were lost below it.
    EXPECT_TRUE(is(Interval(next_down(1.0)) * 0x1p-1022, next_down(0x1p-1022), next_up(0x1p-1022)));
    EXPECT_GE(exp(Interval(-1000.0)).lo, 0.0);
    EXPECT_GT(exp(Interval(-1000.0)).hi, 0.0);
    EXPECT_TRUE(std::isfinite(exp(Interval(1000.0)).lo));
    EXPECT_EQ(exp(Interval(1000.0)).hi, inf);
}

TEST(Interval, ZeroTimesUnboundedIsZero) {
    EXPECT_TRUE(is(Interval(0.0) * entire(), 0.0, 0.0));
    EXPECT_TRUE(is(Interval(0.0, 1.0) * Interval(0.0, inf), 0.0, inf));
    EXPECT_TRUE(is(Interval(-1.0, 0.0) * Interval(2.0, inf), -inf, 0.0));
    EXPECT_TRUE(is(Interval(-1.0, 1.0) * Interval(-inf, 3.0), -inf, inf));
}

TEST(Interval, ProductsCoverAllSignCases) {
    EXPECT_TRUE(is(Interval(2.0, 3.0) * Interval(5.0, 7.0), 10.0, 21.0));
    EXPECT_TRUE(is(Interval(2.0, 3.0) * Interval(-5.0, 7.0), -15.0, 21.0));
    EXPECT_TRUE(is(Interval(2.0, 3.0) * Interval(-7.0, -5.0), -21.0, -10.0));
    EXPECT_TRUE(is(Interval(-2.0, 3.0) * Interval(5.0, 7.0), -14.0, 21.0));
    EXPECT_TRUE(is(Interval(-2.0, 3.0) * Interval(-5.0, 7.0), -15.0, 21.0));
    EXPECT_TRUE(is(Interval(-2.0, 3.0) * Interval(-7.0, -5.0), -21.0, 14.0));
    EXPECT_TRUE(is(Interval(-3.0, -2.0) * Interval(5.0, 7.0), -21.0, -10.0));
    EXPECT_TRUE(is(Interval(-3.0, -2.0) * Interval(-5.0, 7.0), -21.0, 15.0));
    EXPECT_TRUE(is(Interval(-3.0, -2.0) * Interval(-7.0, -5.0), 10.0, 21.0));
}

TEST(Interval, DivisionByZeroKeepsWhatIsDefined) {
    EXPECT_TRUE(is(Interval(1.0, 2.0) / Interval(0.0, 4.0), 0.25, inf, false));
    EXPECT_TRUE(is(Interval(1.0, 2.0) / Interval(-4.0, 0.0), -inf, -0.25, false));
    EXPECT_TRUE(is(Interval(-2.0, -1.0) / Interval(0.0, 4.0), -inf, -0.25, false));
    EXPECT_TRUE(is(Interval(-1.0, 2.0) / Interval(0.0, 4.0), -inf, inf, false));
    EXPECT_TRUE(is(Interval(1.0) / Interval(-1.0, 1.0), -inf, inf, false));
    EXPECT_TRUE(is(Interval(0.0) / Interval(-1.0, 1.0), 0.0, 0.0, false));
    EXPECT_TRUE(is(Interval(1.0) / Interval(0.0), -inf, inf, false));
    EXPECT_TRUE(is(Interval(1.0, 8.0) / Interval(2.0, inf), 0.0, 4.0));
}

TEST(Interval, PowersKnowTheirParity) {
    EXPECT_TRUE(is(sqr(Interval(-1.0, 2.0)), 0.0, 4.0));
    EXPECT_TRUE(is(powi(Interval(-1.0, 2.0), 2), 0.0, 4.0));
    EXPECT_TRUE(is(powi(Interval(-1.0, 2.0), 3), -1.0, 8.0));
    EXPECT_TRUE(is(powi(Interval(-3.0, 2.0), 4), 0.0, 81.0));
    EXPECT_TRUE(is(powi(Interval(-3.0, -2.0), 4), 16.0, 81.0));
    EXPECT_TRUE(is(powi(Interval(-3.0, 2.0), 0), 1.0, 1.0));
    EXPECT_TRUE(is(powi(Interval(2.0, 4.0), -2), 0.0625, 0.25));
    EXPECT_TRUE(is(powi(Interval(-2.0, 4.0), -2), 0.0625, inf, false));
    EXPECT_TRUE(is(powi(Interval(-2.0, 4.0), -1), -inf, inf, false));
    EXPECT_TRUE(is(powi(Interval(0.0), -2), -inf, inf, false));
    // The denominator underflows, but no base is zero.
    EXPECT_TRUE(powi(Interval(1e-300, 1e-200), -3).defined);
    EXPECT_TRUE(is(powi(Interval(-1.0), std::numeric_limits<int>::min()), 1.0, 1.0));
}

TEST(Interval, GeneralPowersRespectTheirDomain) {
    EXPECT_TRUE(is(pow(Interval(-2.0, 3.0), 3.0), -8.0, 27.0));
    EXPECT_TRUE(is(pow(Interval(4.0, 9.0), 0.5), 2.0, 3.0));
    EXPECT_TRUE(is_within(4, pow(Interval(2.0, 3.0), Interval(-1.0, 2.0)), 1.0 / 3.0, 9.0));
    EXPECT_TRUE(is(pow(Interval(-8.0, -1.0), 0.3), -inf, inf, false));
    EXPECT_TRUE(is(pow(Interval(-8.0, 1.0), 1.5), 0.0, 1.0, false));
    EXPECT_TRUE(is(pow(Interval(0.0), -1.5), -inf, inf, false));
    EXPECT_TRUE(is(pow(Interval(0.0), 1.5), 0.0, 0.0));
    EXPECT_TRUE(is(pow(Interval(-0.0, 1.0), -1.5), 1.0, inf, false));
    EXPECT_TRUE(is(pow(Interval(0.0, 1.0), Interval(0.0, 1.0)), 0.0, 1.0));
    // Of the exponents in [2.5, 3.5] a negative base has a power at 3 only.
    EXPECT_TRUE(is(pow(Interval(-2.0), Interval(2.5, 3.5)), -8.0, -8.0, false));
    EXPECT_TRUE(contains(pow(Interval(-2.0), Interval(1.5, 3.5)), 4.0));
}

TEST(Interval, FunctionsAreExactWhereTheirValueIs) {
    EXPECT_TRUE(is(sin(Interval(0.0)), 0.0, 0.0));
    EXPECT_TRUE(is(sin(Interval(-0.0)), 0.0, 0.0));
    EXPECT_TRUE(is(cos(Interval(0.0)), 1.0, 1.0));
    EXPECT_TRUE(is(tan(Interval(0.0)), 0.0, 0.0));
    EXPECT_TRUE(is(exp(Interval(0.0)), 1.0, 1.0));
    EXPECT_TRUE(is(log(Interval(1.0)), 0.0, 0.0));
    EXPECT_TRUE(is(asin(Interval(0.0)), 0.0, 0.0));
    EXPECT_TRUE(is(acos(Interval(1.0)), 0.0, 0.0));
    EXPECT_TRUE(is(atan(Interval(0.0)), 0.0, 0.0));
    EXPECT_TRUE(is(atan2(Interval(0.0), Interval(2.0)), 0.0, 0.0));
    EXPECT_TRUE(is(sinh(Interval(0.0)), 0.0, 0.0));
    EXPECT_TRUE(is(cosh(Interval(0.0)), 1.0, 1.0));
    EXPECT_TRUE(is(tanh(Interval(0.0)), 0.0, 0.0));
}

TEST(Interval, RangesAreClippedToTheKnownBounds) {
    EXPECT_TRUE(is(sin(entire()), -1.0, 1.0));
    EXPECT_TRUE(is(cos(Interval(1e9, 2e9)), -1.0, 1.0));
    EXPECT_TRUE(is(tanh(entire()), -1.0, 1.0));
    EXPECT_EQ(tanh(Interval(100.0)).hi, 1.0);
    EXPECT_TRUE(is(exp(entire()), 0.0, inf));
    EXPECT_TRUE(is(cosh(entire()), 1.0, inf));
    EXPECT_EQ(cosh(Interval(1e-200)).lo, 1.0);
    EXPECT_TRUE(is(atan(entire()), -next_up(pi / 2), next_up(pi / 2)));
    EXPECT_TRUE(is(asin(Interval(-1.0, 1.0)), -next_up(pi / 2), next_up(pi / 2)));
    EXPECT_TRUE(is(acos(Interval(-1.0, 1.0)), 0.0, next_up(pi)));
}

// The bounds are the library's value and as many neighbours on each side as its error may span.
TEST(Interval, PointValuesAreTightToAFewNeighbours) {
    Boxes random(15);
    for (int i = 0; i < 1000; ++i) {
        const double x = 0.9 * (2.0 * random.unit() - 1.0);
        EXPECT_TRUE(is_within(2, sin(Interval(x)), std::sin(x), std::sin(x)));
        EXPECT_TRUE(is_within(2, cos(Interval(x)), std::cos(x), std::cos(x)));
        EXPECT_TRUE(is_within(2, exp(Interval(x)), std::exp(x), std::exp(x)));
        EXPECT_TRUE(is_within(2, atan(Interval(x)), std::atan(x), std::atan(x)));
        EXPECT_TRUE(is_within(4, tan(Interval(x)), std::tan(x), std::tan(x)));
        EXPECT_TRUE(is_within(4, asin(Interval(x)), std::asin(x), std::asin(x)));
        EXPECT_TRUE(is_within(6, tanh(Interval(x)), std::tanh(x), std::tanh(x)));
        EXPECT_TRUE(is_within(1, sqrt(Interval(1.0 + x)), std::sqrt(1.0 + x), std::sqrt(1.0 + x)));
        EXPECT_TRUE(is_within(1, Interval(x) * 0.3, x * 0.3, x * 0.3));
        EXPECT_TRUE(is_within(1, Interval(x) / 0.3, x / 0.3, x / 0.3));
    }
}

TEST(Interval, SineAndCosineFindTheirExtremaInside) {
    EXPECT_TRUE(is(sin(Interval(0.0, pi)), 0.0, 1.0));
    EXPECT_EQ(sin(Interval(1.0, 2.0)).hi, 1.0);
    EXPECT_TRUE(is_within(2, sin(Interval(1.0, 1.5)), std::sin(1.0), std::sin(1.5)));
    EXPECT_TRUE(is_within(2, sin(Interval(2.0, 4.0)), std::sin(4.0), std::sin(2.0)));
    EXPECT_EQ(sin(Interval(-2.0, -1.0)).lo, -1.0);
    EXPECT_EQ(cos(Interval(-1.0, 1.0)).hi, 1.0);
    EXPECT_EQ(cos(Interval(3.0, 3.2)).lo, -1.0);
    EXPECT_TRUE(is_within(2, cos(Interval(0.5, 3.0)), std::cos(3.0), std::cos(0.5)));
    EXPECT_TRUE(is(cos(Interval(1.0, 8.0)), -1.0, 1.0));
    // The doubles around every quarter turn, where a wrong quadrant would lose the extremum.
    for (int m = -2001; m <= 2001; m += 2) {
        const double peak = m * (pi / 2);
        const double top = (m % 4 + 4) % 4 == 1 ? 1.0 : -1.0;
        const Interval range = sin(Interval(peak - 1e-3, peak + 1e-3));
        EXPECT_TRUE(top > 0.0 ? range.hi == 1.0 && range.lo > 0.999 : range.lo == -1.0 && range.hi < -0.999) << m;
    }
}

TEST(Interval, TangentTellsItsPolesFromTheDoublesNextToThem) {
    const double below = pi / 2;          // below the pole
    const double above = next_up(below);  // above it
    EXPECT_TRUE(tan(Interval(1.0, below)).defined);
    EXPECT_GT(tan(Interval(1.0, below)).hi, 1e16);
    EXPECT_TRUE(tan(Interval(above, 2.0)).defined);
    EXPECT_LT(tan(Interval(above, 2.0)).lo, -1e15);
    EXPECT_TRUE(is(tan(Interval(below, above)), -inf, inf, false));
    EXPECT_TRUE(is(tan(Interval(1.0, 5.0)), -inf, inf, false));
    EXPECT_TRUE(is(tan(Interval(-2.0, -1.0)), -inf, inf, false));
    EXPECT_TRUE(is_within(4, tan(Interval(2.0, 4.0)), std::tan(2.0), std::tan(4.0)));
    EXPECT_TRUE(is(tan(Interval(1e9, 1e9 + 1e-3)), -inf, inf, false));
    EXPECT_TRUE(tan(Interval(1e9)).defined);
}

TEST(Interval, AngleJumpsAcrossItsCutAndIsUndefinedAtTheOriginOnly) {
    const double above_pi = next_up(pi);
    EXPECT_TRUE(is(atan2(Interval(-1.0, 1.0), Interval(-2.0, -1.0)), -above_pi, above_pi));
    EXPECT_TRUE(is(atan2(Interval(-1.0, 0.0), Interval(-2.0, -1.0)), -above_pi, above_pi));
    EXPECT_TRUE(is(atan2(Interval(-1.0, 1.0), Interval(-1.0, 1.0)), -above_pi, above_pi, false));
    EXPECT_TRUE(is(atan2(Interval(0.0), Interval(0.0)), -inf, inf, false));
    EXPECT_TRUE(is_within(4, atan2(Interval(0.0), Interval(-1.0)), pi, above_pi));
    EXPECT_TRUE(is_within(4, atan2(Interval(-0.0), Interval(-1.0)), pi, above_pi));
    EXPECT_TRUE(
        is_within(4, atan2(Interval(1.0, 2.0), Interval(-1.0, 3.0)), std::atan2(1.0, 3.0), std::atan2(1.0, -1.0)));
    EXPECT_TRUE(
        is_within(4, atan2(Interval(-2.0, 1.0), Interval(1.0, 3.0)), std::atan2(-2.0, 1.0), std::atan2(1.0, 1.0)));
    EXPECT_TRUE(is_within(4, atan2(Interval(-2.0, -1.0), Interval(-3.0, -1.0)), std::atan2(-1.0, -3.0),
                          std::atan2(-2.0, -1.0)));
}

TEST(Interval, LeavingTheDomainIsFlaggedAndTheRestEnclosed) {
    EXPECT_TRUE(is(sqrt(Interval(-1.0, 4.0)), 0.0, 2.0, false));
    EXPECT_TRUE(is(sqrt(Interval(0.0, 4.0)), 0.0, 2.0));
    EXPECT_TRUE(is(sqrt(Interval(-2.0, -1.0)), -inf, inf, false));
    EXPECT_TRUE(is(log(Interval(-1.0, 1.0)), -inf, 0.0, false));
    EXPECT_TRUE(is(log(Interval(0.0, 1.0)), -inf, 0.0, false));
    EXPECT_TRUE(is(log(Interval(-1.0, 0.0)), -inf, inf, false));
    EXPECT_FALSE(asin(Interval(0.5, 1.5)).defined);
    EXPECT_TRUE(asin(Interval(0.5, 1.0)).defined);
    EXPECT_TRUE(is(acos(Interval(1.5, 2.0)), -inf, inf, false));
    EXPECT_TRUE(is(acos(Interval(1.0, 2.0)), 0.0, 0.0, false));
}

TEST(Interval, UndefinednessPropagatesThroughEveryOperation) {
    const Interval broken(0.25, 0.5, false);
    for (const Unary& f : unary_functions()) EXPECT_FALSE(f.on_box(broken).defined) << f.name;
    for (const Binary& f : binary_functions()) {
        EXPECT_FALSE(f.on_box(broken, 2.0).defined) << f.name;
        EXPECT_FALSE(f.on_box(2.0, broken).defined) << f.name;
    }
    for (const int n : {-1, 0, 1, 2, 3}) EXPECT_FALSE(powi(broken, n).defined) << n;
    EXPECT_FALSE(pow(2.0, Interval(2.0, 2.0, false)).defined);
    EXPECT_FALSE(pow(2.0, Interval(0.5, 0.5, false)).defined);
}

TEST(Interval, ComparisonsHaveThreeOutcomes) {
    const Interval low(0.0, 1.0);
    const Interval touching(1.0, 2.0);
    const Interval high(3.0, 4.0);
    EXPECT_TRUE(is(less(low, high), 1.0, 1.0));
    EXPECT_TRUE(is(less(high, low), 0.0, 0.0));
    EXPECT_TRUE(is(less(low, touching), 0.0, 1.0));
    EXPECT_TRUE(is(less(touching, low), 0.0, 0.0));
    EXPECT_TRUE(is(less_equal(low, touching), 1.0, 1.0));
    EXPECT_TRUE(is(less_equal(touching, low), 0.0, 1.0));
    EXPECT_TRUE(is(greater(high, low), 1.0, 1.0));
    EXPECT_TRUE(is(greater_equal(touching, low), 1.0, 1.0));
    EXPECT_TRUE(is(equal(low, high), 0.0, 0.0));
    EXPECT_TRUE(is(equal(low, low), 0.0, 1.0));
    EXPECT_TRUE(is(equal(Interval(2.0), Interval(2.0)), 1.0, 1.0));
    EXPECT_TRUE(is(not_equal(low, high), 1.0, 1.0));
    EXPECT_TRUE(is(not_equal(Interval(2.0), Interval(2.0)), 0.0, 0.0));
}

TEST(Interval, SelectTakesOnlyTheBranchThatIsCertain) {
    const Interval fine(1.0, 2.0);
    const Interval broken(5.0, 6.0, false);
    EXPECT_TRUE(is(select(1.0, fine, broken), 1.0, 2.0));
    EXPECT_TRUE(is(select(0.0, fine, broken), 5.0, 6.0, false));
    EXPECT_TRUE(is(select(Interval(0.0, 1.0), fine, broken), 1.0, 6.0, false));
    EXPECT_TRUE(is(select(Interval(0.0, 1.0), fine, Interval(4.0)), 1.0, 4.0));
    EXPECT_TRUE(is(select(Interval(1.0, 1.0, false), fine, fine), 1.0, 2.0, false));
    EXPECT_TRUE(is(select(Interval(-3.0, -2.0), fine, broken), 1.0, 2.0));
}

TEST(Interval, PiecesAreExact) {
    EXPECT_TRUE(is(abs(Interval(-3.0, 2.0)), 0.0, 3.0));
    EXPECT_TRUE(is(abs(Interval(-3.0, -2.0)), 2.0, 3.0));
    EXPECT_TRUE(is(sign(Interval(-3.0, 2.0)), -1.0, 1.0));
    EXPECT_TRUE(is(sign(Interval(0.0)), 0.0, 0.0));
    EXPECT_TRUE(is(sign(Interval(0.0, 2.0)), 0.0, 1.0));
    EXPECT_TRUE(is(min(Interval(0.0, 5.0), Interval(1.0, 2.0)), 0.0, 2.0));
    EXPECT_TRUE(is(max(Interval(0.0, 5.0), Interval(1.0, 2.0)), 1.0, 5.0));
}

// What the standard library has no name for, so that generic code finds it for numbers as well.
double sqr(double x) { return x * x; }
double powi(double x, int n) { return std::pow(x, n); }
double less(double a, double b) { return a < b ? 1.0 : 0.0; }
double select(double condition, double a, double b) { return condition != 0.0 ? a : b; }

template <class V>
V generic(V x) {
    using std::abs, std::atan2, std::cos, std::exp, std::hypot;
    using std::max, std::min, std::pow, std::sin, std::sqrt;
    V y = sin(x) * x + V(2.0);
    y += 1.0;
    y -= pow(x, 2) / (2.0 + cos(x));
    return max(y, min(x, 3.0 * x)) + hypot(x, V(1.0)) * powi(x, 3) - sqr(abs(x)) + atan2(x, V(2.0)) +
           select(less(x, V(0.5)), exp(-x), sqrt(x + 1.0));
}

TEST(Interval, GenericCodeRunsOnNumbersAndIntervalsAlike) {
    for (const double x : {-0.75, 0.0, 0.3, 0.5, 2.0}) {
        const Interval range = generic(Interval(x));
        // About twenty operations of at most a few ulp each on numbers below 16.
        constexpr double tolerance = 64 * std::numeric_limits<double>::epsilon() * 16;
        EXPECT_TRUE(range.defined);
        EXPECT_NEAR(midpoint(range), generic(x), tolerance);
        EXPECT_LT(width(range), tolerance);
    }
    // The undecided select takes in a square root that does not exist below -1.
    EXPECT_FALSE(generic(Interval(-2.0, 2.0)).defined);
    EXPECT_TRUE(generic(Interval(-2.0, 0.25)).defined);
}

constexpr Interval compile_time = (Interval(1.0, 2.0) + 3.0) * Interval(-1.0, 2.0) - sqr(Interval(-1.0, 1.0));
static_assert(compile_time.lo == -6.0 && compile_time.hi == 10.0);

}  // namespace
}  // namespace saltus::expr::interval_test
