// SPDX-License-Identifier: Apache-2.0
#if SALTUS_HDF5

#include "saltus/io/results/detail/hdf5_descriptor.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <new>

namespace saltus::io::hdf5 {

namespace {

/// An open file, as HDF5 sees it.
struct File {
    H5FD_t head{};  ///< of HDF5; must come first
    DescriptorTarget* target = nullptr;
    haddr_t end_of_allocation = 0, end = 0;
};

File& file_of(H5FD_t* head) { return *reinterpret_cast<File*>(head); }
const File& file_of(const H5FD_t* head) { return *reinterpret_cast<const File*>(head); }

H5FD_t* open_file(const char*, unsigned, hid_t access, haddr_t) {
    const auto* const target = static_cast<DescriptorTarget* const*>(H5Pget_driver_info(access));
    if (target == nullptr) return nullptr;
    auto* const file = new (std::nothrow) File;
    if (file == nullptr) return nullptr;
    file->target = *target;
    return &file->head;
}

herr_t close_file(H5FD_t* head) {
    delete &file_of(head);
    return 0;
}

int compare(const H5FD_t* a, const H5FD_t* b) {
    const int left = file_of(a).target->descriptor, right = file_of(b).target->descriptor;
    return left < right ? -1 : (left > right ? 1 : 0);
}

// The features decide how HDF5 places data: these are those of its own drivers for plain files.
herr_t query(const H5FD_t*, unsigned long* flags) {
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
             H5FD_FEAT_AGGREGATE_SMALLDATA;
    return 0;
}

haddr_t get_allocation(const H5FD_t* head, H5FD_mem_t) { return file_of(head).end_of_allocation; }

herr_t set_allocation(H5FD_t* head, H5FD_mem_t, haddr_t address) {
    file_of(head).end_of_allocation = address;
    return 0;
}

haddr_t get_end(const H5FD_t* head, H5FD_mem_t) { return file_of(head).end; }

/// Reads bytes that were written; others are zero.
herr_t read(H5FD_t* head, H5FD_mem_t, hid_t, haddr_t address, std::size_t size, void* buffer) {
    const File& file = file_of(head);
    auto* to = static_cast<char*>(buffer);
    while (size > 0) {
        const ssize_t got = ::pread(file.target->descriptor, to, size, static_cast<off_t>(address));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0 && file.target->error == 0) file.target->error = errno;
        if (got <= 0) break;
        to += got;
        address += static_cast<haddr_t>(got);
        size -= static_cast<std::size_t>(got);
    }
    std::memset(to, 0, size);
    return 0;
}

herr_t write(H5FD_t* head, H5FD_mem_t, hid_t, haddr_t address, std::size_t size, const void* buffer) {
    File& file = file_of(head);
    if (file.target->complete) return 0;
    file.end = std::max<haddr_t>(file.end, address + size);
    const auto* from = static_cast<const char*>(buffer);
    while (size > 0 && file.target->error == 0) {
        const ssize_t put = ::pwrite(file.target->descriptor, from, size, static_cast<off_t>(address));
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) file.target->error = errno;
        if (put <= 0) break;
        from += put;
        address += static_cast<haddr_t>(put);
        size -= static_cast<std::size_t>(put);
    }
    return 0;
}

herr_t truncate(H5FD_t* head, hid_t, hbool_t) {
    file_of(head).end = file_of(head).end_of_allocation;
    return 0;
}

/// Tells HDF5 how to access such files, once. Negative if HDF5 refuses.
hid_t driver() {
    static const hid_t registered = [] {
        static H5FD_class_t methods{};
        methods.name = "saltus descriptor";
        methods.maxaddr = static_cast<haddr_t>(std::numeric_limits<off_t>::max());
        methods.fc_degree = H5F_CLOSE_WEAK;
        methods.fapl_size = sizeof(DescriptorTarget*);
        methods.open = open_file;
        methods.close = close_file;
        methods.cmp = compare;
        methods.query = query;
        methods.get_eoa = get_allocation;
        methods.set_eoa = set_allocation;
        methods.get_eof = get_end;
        methods.read = read;
        methods.write = write;
        methods.truncate = truncate;
        // Free space of data and of metadata is kept apart, as in the drivers of HDF5 for plain files.
        for (H5FD_mem_t& kind : methods.fl_map) kind = H5FD_MEM_SUPER;
        methods.fl_map[H5FD_MEM_DRAW] = methods.fl_map[H5FD_MEM_GHEAP] = H5FD_MEM_DRAW;
        return H5FDregister(&methods);
    }();
    return registered;
}

}  // namespace

bool write_to_descriptor(hid_t access, DescriptorTarget& target) {
    DescriptorTarget* const pointer = &target;
    return driver() >= 0 && H5Pset_driver(access, driver(), &pointer) >= 0;
}

}  // namespace saltus::io::hdf5

#endif
