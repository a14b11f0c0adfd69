// SPDX-License-Identifier: Apache-2.0
#include "saltus/control/gains/detail/run_bytes.hpp"

#include "saltus/base/bytes.hpp"

namespace saltus::trajectory {

template <class Bytes>
static void transfer(Bytes& b, State& s) {
    b(s.t);
    b(s.q);
    b(s.u);
}
template <class Bytes>
static void transfer(Bytes& b, Reaction& r) {
    b(r.element);
    b(r.N);
    b(r.T);
}
template <class Bytes>
static void transfer(Bytes& b, OutputSummary& o) {
    b(o.name);
    b(o.unit);
    b(o.final);
    b(o.lowest);
    b(o.highest);
    b(o.lowest_at);
    b(o.highest_at);
}
template <class Bytes>
static void transfer(Bytes& b, ImpulseRate& r) {
    b(r.element);
    b(r.mean);
    b(r.earlier);
    b(r.from);
    b(r.to);
    b(r.settled);
}
template <class Bytes>
static void transfer(Bytes& b, TrackingStretch& s) {
    b(s.from);
    b(s.to);
    b(s.largest);
    b(s.left);
    b(s.closes);
}
template <class Bytes>
static void transfer(Bytes& b, Tracking& t) {
    b(t.coordinate);
    b(t.largest);
    b(t.final);
    b(t.stretches);
}

}  // namespace saltus::trajectory

namespace saltus::control {

template <class Bytes>
static void transfer(Bytes& b, Rest& r) {
    b(r.found);
    b(r.reason);
    b(r.q);
    b(r.lambda);
    b(r.closed);
    b(r.residual);
    b(r.curvature);
    b(r.isolated);
    b(r.strict);
}
template <class Bytes>
static void transfer(Bytes& b, Measures& m) {
    b(m.status);
    b(m.reason);
    b(m.warnings);
    b(m.end);
    b(m.forces);
    b(m.impacts);
    b(m.accumulations);
    b(m.peak_impulse);
    b(m.peak_contact);
    b(m.peak_force);
    b(m.steady);
    b(m.settling_time);
    b(m.not_settled);
    b(m.outputs);
    b(m.impulse_rates);
    b(m.tracking);
}
template <class Bytes>
static void transfer(Bytes& b, StudiedRun& r) {
    b(r.done);
    b(r.refused);
    b(r.measures);
}

std::string bytes_of(const StudiedRun& run) {
    ByteWriter writer;
    writer(run);
    return writer.bytes();
}

void read(std::string_view bytes, StudiedRun& run) {
    ByteReader reader(bytes);
    reader(run);
}

}  // namespace saltus::control
