// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hdf5.h>

#include <mutex>
#include <utility>

/// Small wrappers around the C library HDF5.
namespace saltus::io::hdf5 {

/// Permission to call HDF5. Every function that calls HDF5 holds one. HDF5 is not thread-safe, so that a second thread
/// waits here. While a session lives, HDF5 prints no messages of its own. HDF5 also does not clean up at the end of the
/// program, because it would complain there about objects that damaged files left open.
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
    H5E_auto2_t print_ = nullptr;  ///< how HDF5 printed errors before, restored at the end
    void* data_ = nullptr;
};

/// Owns an identifier of HDF5 and closes it at the end. The identifier is negative if the call that made it failed;
/// then the Id converts to false and nothing is closed.
class Id {
public:
    /// `close_function` is the HDF5 function that closes identifiers of this type.
    Id(hid_t id, herr_t (*close_function)(hid_t)) : id_(id), close_(close_function) {}
    ~Id() { close(); }
    Id(const Id&) = delete;
    Id& operator=(const Id&) = delete;

    explicit operator bool() const { return id_ >= 0; }
    hid_t get() const { return id_; }

    /// Closes the identifier now. False if HDF5 could not complete pending work, such as writing.
    bool close() {
        const hid_t id = std::exchange(id_, H5I_INVALID_HID);
        return id < 0 || close_(id) >= 0;
    }

private:
    hid_t id_;
    herr_t (*close_)(hid_t);
};

/// Whether a dataset stores as many bytes as it announces. A damaged file can say otherwise, and HDF5 1.10 then reads
/// from a null pointer. Chunks may be missing or compressed: HDF5 checks them itself.
inline bool stores_what_it_announces(hid_t set, hid_t creation, double announced_bytes) {
    return H5Pget_layout(creation) == H5D_CHUNKED || static_cast<double>(H5Dget_storage_size(set)) >= announced_bytes;
}

}  // namespace saltus::io::hdf5
