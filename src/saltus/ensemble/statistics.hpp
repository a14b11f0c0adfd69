// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

/// Numbers that sum up many runs. The runs may come one after the other: none of these functions keeps them.
namespace saltus::ensemble {

/// Lower and upper end of a confidence interval.
struct Interval {
    double low = 0.0, high = 1.0;
};
/// Wilson's confidence interval of a probability, of which `hits` of `n` trials were observed. z is the quantile of the
/// normal distribution; the default gives 95 %. Without trials the interval is [0, 1].
Interval wilson(std::size_t hits, std::size_t n, double z = 1.959963984540054);

/// Count, mean, standard deviation and extreme values of numbers that come one after the other. NaN is not counted.
class Moments {
public:
    void add(double x);

    std::size_t count() const { return count_; }
    double mean() const { return mean_; }
    double deviation() const;  ///< standard deviation of the numbers, with n − 1; 0 for fewer than two
    double lowest() const { return lowest_; }
    double highest() const { return highest_; }

private:
    std::size_t count_ = 0;
    double mean_ = 0.0, square_ = 0.0, lowest_ = 0.0, highest_ = 0.0;
};

/// The number at one place of the ascending order of each of several lists, exactly and without keeping the lists.
/// `scan(take)` calls take(list, x) for all numbers x, in any order; it is called several times, and must give the same
/// numbers each time. `place[k]` is the place in list k, from 0, smaller than its length; lists whose place is
/// `no_place` are left out and get 0. NaN must not occur.
inline constexpr std::size_t no_place = static_cast<std::size_t>(-1);
std::vector<double> select(const std::vector<std::size_t>& place,
                           const std::function<void(const std::function<void(std::size_t, double)>&)>& scan);

}  // namespace saltus::ensemble
