// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hdf5.h>

#include <mutex>
#include <utility>

namespace saltus::io::hdf5 {

/// One caller at a time, as the library is built for, and without its own printing on stderr; nor does it tidy up at
/// the end of the program, where it would complain about what damaged files left open in it.
class Session {
public:
    Session() : lock_(mutex()) {
        static const herr_t ignored [[maybe_unused]] = H5dont_atexit();
        H5Eget_auto2(H5E_DEFAULT, &print_, &data_);
        H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    }
    ~Session() { H5Eset_auto2(H5E_DEFAULT, print_, data_); }
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

private:
    static std::mutex& mutex() {
        static std::mutex one;
        return one;
    }

    std::lock_guard<std::mutex> lock_;
    H5E_auto2_t print_ = nullptr;
    void* data_ = nullptr;
};

/// An identifier of the library, closed at the end. Negative when the call that made it failed.
class Id {
public:
    Id(hid_t id, herr_t (*how)(hid_t)) : id_(id), close_(how) {}
    ~Id() { close(); }
    Id(const Id&) = delete;
    Id& operator=(const Id&) = delete;

    explicit operator bool() const { return id_ >= 0; }
    hid_t get() const { return id_; }

    /// Before the end; whether what it still had to do was done.
    bool close() {
        const hid_t id = std::exchange(id_, H5I_INVALID_HID);
        return id < 0 || close_(id) >= 0;
    }

private:
    hid_t id_;
    herr_t (*close_)(hid_t);
};

}  // namespace saltus::io::hdf5
