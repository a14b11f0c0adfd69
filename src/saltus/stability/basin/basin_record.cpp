// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/basin/basin_record.hpp"

#include <cstring>

#include "saltus/base/error.hpp"

namespace saltus::stability {

namespace {

/// Calls f(value) for each number of a motion, in the order of its bytes.
template <class Motion, class F>
void for_each_number(Motion& m, bool velocities, F f) {
    f(m.fate);
    f(m.admission);
    f(m.inside);
    f(m.V);
    f(m.t);
    f(m.steps);
    f(m.closed);
    f(m.returns);
    for (auto& x : m.q) f(x);
    if (velocities)
        for (auto& x : m.u) f(x);
}

}  // namespace

std::size_t BasinRecord::Layout::bytes() const {
    BasinMotion m;
    m.q.resize(coordinates);
    m.u.resize(coordinates);
    std::size_t count = 0;
    for_each_number(m, velocities, [&](const auto& value) { count += sizeof value; });
    return count;
}

BasinRecord::BasinRecord(const Layout& layout)
    : BasinRecord(layout, std::make_shared<ensemble::Table>(layout.bytes())) {}

BasinRecord::BasinRecord(const Layout& layout, std::shared_ptr<ensemble::Table> table)
    : layout_(layout), bytes_(layout.bytes()), table_(std::move(table)) {}

BasinMotion BasinRecord::unknown() const {
    BasinMotion m;
    m.q.resize(layout_.coordinates, 0.0);
    if (layout_.velocities) m.u.resize(layout_.coordinates, 0.0);
    return m;
}

void BasinRecord::write(const BasinMotion& m, char* to) const {
    SALTUS_EXPECT(m.q.size() == layout_.coordinates && (!layout_.velocities || m.u.size() == layout_.coordinates));
    for_each_number(m, layout_.velocities, [&](const auto& value) {
        std::memcpy(to, &value, sizeof value);
        to += sizeof value;
    });
}

std::string BasinRecord::bytes_of(const BasinMotion& m) const {
    std::string bytes(bytes_, '\0');
    write(m, bytes.data());
    return bytes;
}

void BasinRecord::read(std::string_view bytes, BasinMotion& m) const {
    m.q.resize(layout_.coordinates);
    m.u.resize(layout_.velocities ? layout_.coordinates : 0);
    std::size_t at = 0;
    for_each_number(m, layout_.velocities, [&](auto& value) {
        if (at + sizeof value > bytes.size()) throw Error("a motion of the record is too short");
        std::memcpy(&value, bytes.data() + at, sizeof value);
        at += sizeof value;
    });
    if (m.fate > Fate::repeats || m.fate == Fate::pending) throw Error("a motion of the record is damaged");
}

BasinMotion BasinRecord::motion(std::size_t motion) const {
    BasinMotion m = unknown();
    if (const std::optional<std::string> bytes = table_->get(motion)) read(*bytes, m);
    return m;
}

void BasinRecord::scan(std::size_t first, std::size_t last,
                       const std::function<void(std::size_t, const BasinMotion&)>& take) const {
    const BasinMotion nothing = unknown();
    BasinMotion m;
    std::size_t next = first;
    table_->scan(first, last, [&](std::size_t motion, std::string_view bytes) {
        for (; next < motion; ++next) take(next, nothing);
        read(bytes, m);
        take(motion, m);
        next = motion + 1;
    });
    for (; next < last; ++next) take(next, nothing);
}

}  // namespace saltus::stability
