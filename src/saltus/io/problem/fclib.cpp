// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/problem/fclib.hpp"

#if SALTUS_HDF5

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "saltus/base/index.hpp"
#include "saltus/base/text.hpp"
#include "saltus/io/problem/detail/memory_limit.hpp"
#include "saltus/io/results/detail/hdf5_header.hpp"
#include "saltus/io/results/detail/hdf5_old_format.hpp"
#include "saltus/io/results/detail/hdf5_session.hpp"
#include "saltus/io/results/files.hpp"
#include "saltus/io/results/hdf5_faults.hpp"

#endif

namespace saltus::io {

bool is_hdf5(std::string_view beginning) { return beginning.starts_with("\x89HDF\r\n\x1a\n"); }

#if !SALTUS_HDF5

bool has_hdf5() { return false; }

namespace {

[[noreturn]] void refuse(const std::string& path) {
    throw Error("is an FCLIB file, and saltus was built without HDF5", {path, 0, 0},
                "install HDF5 and build again, or use the text format");
}

}  // namespace

ContactProblem read_fclib(const std::string& path, std::optional<ProblemKind>) { refuse(path); }

void write_fclib_local(const std::string& folder, const std::string& name, const solvers::FrictionProblem&,
                       const std::string&) {
    refuse(folder + "/" + name);
}

#else

bool has_hdf5() { return true; }

namespace {

using hdf5::Id;
using hdf5::Session;

// ---- reading

const char* const damaged = "it may be cut short or damaged";

/// An open FCLIB file. A file in the oldest format, which FCLIB writes, is read without HDF5 except for chunks, because
/// HDF5 1.10 does not survive damaged ones. Its functions throw Error with the path of the file and the name of the
/// data at fault.
class Reader {
public:
    explicit Reader(const std::string& path) : path_(path), reading_(path) {
        old_ = placed("", [&] { return hdf5::OldFormat::open(path); });
        if (!old_) file();
        std::error_code error;
        bytes_ = static_cast<double>(std::filesystem::file_size(path, error));
        if (error) fail("cannot be read: " + error.message());
    }

    [[noreturn]] void fail(const std::string& message, const std::string& remedy = {}) const {
        throw Error(message, place(), remedy);
    }

    Place place() const { return {path_, 0, 0}; }

    /// Whether data of this name exist: "group/group/data".
    bool has(const std::string& name) const {
        if (const auto header = old_header(name)) return true;
        if (old_) return false;
        for (std::size_t slash = name.find('/'); slash != std::string::npos; slash = name.find('/', slash + 1))
            if (H5Lexists(file(), name.substr(0, slash).c_str(), H5P_DEFAULT) <= 0) return false;
        return H5Lexists(file(), name.c_str(), H5P_DEFAULT) > 0;
    }

    /// Whether data that exist were ever written. FCLIB creates data without values, for example the reactions of a
    /// problem whose solution is not known.
    bool is_written(const std::string& name) const {
        if (const auto header = old_dataset(name)) return old_->is_written(*header);
        const Id set(open(name), H5Dclose);
        return H5Dget_storage_size(set.get()) > 0;
    }

    std::vector<std::int64_t> integers(const std::string& name) const {
        return data<std::int64_t>(name, H5T_INTEGER, H5T_NATIVE_INT64, "integers");
    }

    /// One integer in [low, high].
    int integer(const std::string& name, std::int64_t low, std::int64_t high) const {
        const std::vector<std::int64_t> values = integers(name);
        if (values.size() != 1) fail(name + " has " + counted(values.size(), "number") + ", not one");
        if (values[0] < low || values[0] > high)
            fail(name + " is " + std::to_string(values[0]) + ", not in " + std::to_string(low) + " ... " +
                 std::to_string(high));
        return static_cast<int>(values[0]);
    }

    /// Numbers, exactly `count` of them if it is given.
    std::vector<double> reals(const std::string& name, std::optional<std::size_t> count = {}) const {
        std::vector<double> values = data<double>(name, H5T_FLOAT, H5T_NATIVE_DOUBLE, "floating-point numbers");
        if (count && values.size() != *count)
            fail(name + " has " + counted(values.size(), "number") + ", not " + std::to_string(*count));
        return values;
    }

    /// The same; all must be finite.
    std::vector<double> finite(const std::string& name, std::optional<std::size_t> count = {}) const {
        std::vector<double> values = reals(name, count);
        for (std::size_t k = 0; k < values.size(); ++k) check_finite(name, k, values[k]);
        return values;
    }

    /// The same; all must be finite and ≥ 0.
    std::vector<double> coefficients(const std::string& name, std::optional<std::size_t> count = {}) const {
        std::vector<double> values = finite(name, count);
        for (std::size_t k = 0; k < values.size(); ++k)
            if (values[k] < 0.0)
                fail(name + ", number " + std::to_string(k + 1) + " of " + std::to_string(values.size()) + ", is " +
                         number_text(values[k]) + ", negative",
                     "give a number >= 0");
        return values;
    }

    void check_finite(const std::string& name, std::size_t k, double value) const {
        if (!std::isfinite(value))
            fail(name + ", number " + std::to_string(k + 1) + ", is " + number_text(value) + ", not finite",
                 "give a finite number");
    }

private:
    /// The value of `read`. Its Error becomes one of this file, about `what`.
    template <class Read>
    std::invoke_result_t<Read> placed(const std::string& what, Read read) const {
        try {
            return read();
        } catch (const Error& e) {
            fail(what + e.message(), damaged);
        }
    }

    /// The file, open in HDF5.
    hid_t file() const {
        if (!file_) file_ = std::make_unique<Id>(H5Fopen(path_.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
        if (!*file_) fail("cannot be opened as HDF5", damaged);
        return file_->get();
    }

    /// The header of data of a file in the old format; no value if there are none, or if HDF5 must read the file.
    std::optional<hdf5::ObjectHeader> old_header(const std::string& name) const {
        if (!old_) return std::nullopt;
        try {
            return placed(name + " ", [&] { return old_->find(name); });
        } catch (const hdf5::OldFormat::NewerGroup&) {
            old_.reset();
            return std::nullopt;
        }
    }

    /// The same for data that must exist.
    std::optional<hdf5::ObjectHeader> old_dataset(const std::string& name) const {
        std::optional<hdf5::ObjectHeader> header = old_header(name);
        if (!old_) return std::nullopt;
        if (!header) fail(name + " is missing");
        if (!header->refusal_of_dataset.empty()) fail(name + " " + header->refusal_of_dataset, damaged);
        return header;
    }

    /// Numbers that are read without HDF5. No value if HDF5 must read them.
    template <class T>
    std::optional<std::vector<T>> old_data(const std::string& name, H5T_class_t wanted, const char* what) const {
        using Numbers = hdf5::OldFormat::Numbers;
        const std::optional<hdf5::ObjectHeader> header = old_dataset(name);
        if (!header) return std::nullopt;
        std::optional<Numbers> found = placed(name + " ", [&] { return old_->numbers(*header, memory_limit); });
        if (!found) return std::nullopt;
        if (found->kind != (wanted == H5T_INTEGER ? Numbers::Kind::integers : Numbers::Kind::reals))
            fail(name + " does not contain " + what);
        if (!found->standard) fail(name + " contains " + what + " of an unusual form", damaged);
        if (!found->stored) fail(name + " announces " + counted(found->count, "number") + " and stores fewer", damaged);
        if constexpr (std::is_same_v<T, double>)
            return std::move(found->reals);
        else
            return std::move(found->integers);
    }

    hid_t open(const std::string& name) const {
        if (!has(name)) fail(name + " is missing");
        if (const std::string why = hdf5::refusal_of_dataset(file(), path_, name); !why.empty())
            fail(name + " " + why, damaged);
        const hid_t set = H5Dopen2(file(), name.c_str(), H5P_DEFAULT);
        if (set < 0) fail(name + " cannot be opened", damaged);
        return set;
    }

    /// Whether numbers have a form that some processor computes with. HDF5 converts any other form bit by bit, as the
    /// file describes it.
    static bool is_standard(hid_t type) {
        for (const hid_t one :
             {H5T_STD_I8LE, H5T_STD_I16LE, H5T_STD_I32LE, H5T_STD_I64LE, H5T_STD_U8LE, H5T_STD_U16LE, H5T_STD_U32LE,
              H5T_STD_U64LE, H5T_STD_I16BE, H5T_STD_I32BE, H5T_STD_I64BE, H5T_STD_U16BE, H5T_STD_U32BE, H5T_STD_U64BE,
              H5T_IEEE_F32LE, H5T_IEEE_F64LE, H5T_IEEE_F32BE, H5T_IEEE_F64BE})
            if (H5Tequal(type, one) > 0) return true;
        return false;
    }

    template <class T>
    std::vector<T> data(const std::string& name, H5T_class_t wanted, hid_t native, const char* what) const {
        if (std::optional<std::vector<T>> values = old_data<T>(name, wanted, what)) return std::move(*values);
        const Id set(open(name), H5Dclose);
        const Id type(H5Dget_type(set.get()), H5Tclose);
        const Id space(H5Dget_space(set.get()), H5Sclose);
        const Id creation(H5Dget_create_plist(set.get()), H5Pclose);
        if (!type || !space || !creation) fail(name + " cannot be read", damaged);
        if (H5Tget_class(type.get()) != wanted) fail(name + " does not contain " + what);
        if (!is_standard(type.get())) fail(name + " contains " + what + " of an unusual form", damaged);
        const hssize_t count = H5Sget_simple_extent_npoints(space.get());
        if (count < 0) fail(name + " cannot be read", damaged);
        // A damaged file may announce any number of entries. Refuse more than the file has room for.
        constexpr double deflate_ratio = 1032.0;  // the deflate format cannot compress better than 1032 : 1
        const int filters = H5Pget_nfilters(creation.get());
        const double room = filters == 0 ? bytes_ : deflate_ratio * bytes_;
        const double size = static_cast<double>(count) * static_cast<double>(H5Tget_size(type.get()));
        if (size > room || static_cast<double>(count) * sizeof(T) > static_cast<double>(memory_limit))
            fail(name + " announces " + counted(ix(count), "number") + ", more than the file can hold", damaged);
        if (!hdf5::stores_what_it_announces(set.get(), creation.get(), size))
            fail(name + " announces " + counted(ix(count), "number") + " and stores fewer", damaged);
        std::vector<T> values(ix(count));
        if (count > 0 && H5Dread(set.get(), native, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0)
            fail(name + " cannot be read", damaged);
        return values;
    }

    std::string path_;
    ReadingHdf5 reading_;
    mutable std::optional<hdf5::OldFormat> old_;  ///< if the file has the format that FCLIB writes
    mutable std::unique_ptr<Id> file_;            ///< open if HDF5 is needed
    double bytes_ = 0.0;
};

/// A matrix as a list of entries.
struct Sparse {
    int rows = 0, columns = 0;
    std::vector<Triplet> entries;
};

/// How a matrix is compressed: by columns, p[j] … p[j+1] are the entries of column j and i holds their rows; by rows,
/// with the roles exchanged.
enum class Compressed { by_columns, by_rows };

/// Adds the entries of a compressed matrix to A.
void expand(const Reader& in, const std::string& name, Compressed order, const std::vector<std::int64_t>& p,
            const std::vector<std::int64_t>& i, const std::vector<double>& x, Sparse& A) {
    const bool by_rows = order == Compressed::by_rows;
    const int lines = by_rows ? A.rows : A.columns, across = by_rows ? A.columns : A.rows;
    if (p.size() < ix(lines) + 1)
        in.fail(name + "/p has " + counted(p.size(), "pointer") + ", not " + std::to_string(std::int64_t{lines} + 1));
    if (p[0] != 0) in.fail(name + "/p begins with " + std::to_string(p[0]) + ", not 0");
    const std::size_t room = std::min(i.size(), x.size());
    for (int line = 0; line < lines; ++line) {
        const std::int64_t begin = p[ix(line)], end = p[ix(line) + 1];
        if (end < begin || ix(end) > room)
            in.fail(name + "/p, number " + std::to_string(line + 2) + ", is " + std::to_string(end) + ", not in " +
                    std::to_string(begin) + " ... " + std::to_string(room));
        for (std::int64_t k = begin; k < end; ++k) {
            if (i[ix(k)] < 0 || i[ix(k)] >= across)
                in.fail(name + "/i, number " + std::to_string(k + 1) + ", is " + std::to_string(i[ix(k)]) +
                        ", not in 0 ... " + std::to_string(across - 1));
            in.check_finite(name + "/x", ix(k), x[ix(k)]);
            const auto index = static_cast<int>(i[ix(k)]);
            A.entries.push_back(by_rows ? Triplet{line, index, x[ix(k)]} : Triplet{index, line, x[ix(k)]});
        }
    }
}

Sparse read_matrix(const Reader& in, const std::string& name) {
    constexpr std::int64_t max_size = std::numeric_limits<int>::max();
    // nz ≥ 0: that many triplets. Otherwise the matrix is compressed, and nz tells how.
    constexpr std::int64_t compressed_rows = -2;
    Sparse A;
    if (!in.has(name)) in.fail(name + " is missing");
    A.rows = in.integer(name + "/m", 0, max_size);
    A.columns = in.integer(name + "/n", 0, max_size);
    const int count = in.integer(name + "/nz", compressed_rows, max_size);
    const std::vector<std::int64_t> p = in.integers(name + "/p"), i = in.integers(name + "/i");
    const std::vector<double> x = in.reals(name + "/x");
    if (count < 0) {
        expand(in, name, count == compressed_rows ? Compressed::by_rows : Compressed::by_columns, p, i, x, A);
        return A;
    }
    const std::size_t room = std::min({p.size(), i.size(), x.size()});
    if (ix(count) > room)
        in.fail(name + "/nz is " + std::to_string(count) + ", but there are only " + counted(room, "triplet"));
    A.entries.reserve(ix(count));
    for (std::size_t k = 0; k < ix(count); ++k) {
        if (i[k] < 0 || i[k] >= A.rows || p[k] < 0 || p[k] >= A.columns)
            in.fail(name + ", triplet " + std::to_string(k + 1) + ", is at " + std::to_string(i[k]) + " " +
                    std::to_string(p[k]) + ", outside a matrix of " + std::to_string(A.rows) + " x " +
                    std::to_string(A.columns));
        in.check_finite(name + "/x", k, x[k]);
        A.entries.push_back({static_cast<int>(i[k]), static_cast<int>(p[k]), x[k]});
    }
    return A;
}

void check_size(const Reader& in, const std::string& name, const Sparse& A, std::int64_t rows, std::int64_t columns) {
    if (A.rows != rows || A.columns != columns)
        in.fail(name + " is " + std::to_string(A.rows) + " x " + std::to_string(A.columns) + ", not " +
                std::to_string(rows) + " x " + std::to_string(columns));
}

Vector vector_of(const std::vector<double>& values) {
    return Eigen::Map<const Vector>(values.data(), static_cast<Eigen::Index>(values.size()));
}

/// Appends the bilateral rows of a local problem,
///     u = W r + V λ + q,   0 = Vᵀ r + R λ + s,
/// to W and q: W becomes [W V; Vᵀ R], q becomes (q, s).
void read_bilateral(const Reader& in, const std::string& group, Sparse& W, std::vector<double>& q) {
    for (const char* const part : {"/V", "/R", "/vectors/s"})
        if (!in.has(group + part)) in.fail(group + part + " is missing", "V, R and vectors/s belong together");
    const Sparse V = read_matrix(in, group + "/V"), R = read_matrix(in, group + "/R");
    check_size(in, group + "/V", V, W.rows, V.columns);
    check_size(in, group + "/R", R, V.columns, V.columns);
    const std::vector<double> s = in.finite(group + "/vectors/s", ix(V.columns));
    const int first = W.rows;  // an int suffices: q and s together are within the memory limit
    for (const Triplet& t : V.entries) {
        W.entries.push_back({t.row, first + t.column, t.value});
        W.entries.push_back({first + t.column, t.row, t.value});
    }
    for (const Triplet& t : R.entries) W.entries.push_back({first + t.row, first + t.column, t.value});
    q.insert(q.end(), s.begin(), s.end());
}

void read_local(const Reader& in, const std::string& group, ContactProblem& result) {
    Sparse W = read_matrix(in, group + "/W");
    const std::vector<double> mu = in.coefficients(group + "/vectors/mu");
    const std::int64_t rows = static_cast<std::int64_t>(mu.size()) * result.dimension;
    check_size(in, group + "/W", W, rows, rows);
    std::vector<double> q = in.finite(group + "/vectors/q", ix(rows));
    if (in.has(group + "/V") || in.has(group + "/R") || in.has(group + "/vectors/s")) read_bilateral(in, group, W, q);
    result.contacts = static_cast<int>(mu.size());
    result.problem =
        local_problem(result.dimension, W.entries, std::move(q), contact_laws(result.dimension, mu, {}), in.place());
}

void read_global(const Reader& in, const std::string& group, ContactProblem& result) {
    const std::vector<double> mu = in.coefficients(group + "/vectors/mu");
    std::vector<double> mu_rolling;
    if (result.dimension == 5) mu_rolling = in.coefficients(group + "/vectors/mu_r", mu.size());
    const std::int64_t rows = static_cast<std::int64_t>(mu.size()) * result.dimension;
    Sparse M = read_matrix(in, group + "/M"), H = read_matrix(in, group + "/H");
    check_size(in, group + "/M", M, M.rows, M.rows);
    check_size(in, group + "/H", H, M.rows, rows);
    Global global;
    global.velocities = M.rows;
    global.M = std::move(M.entries);
    global.H = std::move(H.entries);
    global.f = vector_of(in.finite(group + "/vectors/f", ix(M.rows)));
    std::vector<double> w = in.finite(group + "/vectors/w", ix(rows));
    if (in.has(group + "/G")) {
        const Sparse G = read_matrix(in, group + "/G");
        check_size(in, group + "/G", G, M.rows, G.columns);
        if (rows + G.columns > std::numeric_limits<int>::max()) in.fail(group + "/G has too many columns");
        for (const Triplet& t : G.entries) global.H.push_back({t.row, t.column + static_cast<int>(rows), t.value});
        const std::vector<double> b = in.finite(group + "/vectors/b", ix(G.columns));
        w.insert(w.end(), b.begin(), b.end());
    }
    global.w = vector_of(w);
    result.contacts = static_cast<int>(mu.size());
    result.problem = condense(global, result.dimension, contact_laws(result.dimension, mu, mu_rolling), in.place());
    result.global = std::move(global);
}

/// Reads reactions that the file contains. If λ of bilateral rows is missing then there is no solution.
void read_solution(const Reader& in, ContactProblem& result) {
    if (!in.has("solution/r") || !in.is_written("solution/r")) return;
    const std::size_t rows = std::get<solvers::FrictionProblem>(result.problem).q.size();
    const std::size_t contact_rows = ix(std::int64_t{result.contacts} * result.dimension);
    std::vector<double> r = in.finite("solution/r", contact_rows);
    if (rows > contact_rows) {
        if (!in.has("solution/l") || !in.is_written("solution/l")) return;
        const std::vector<double> l = in.finite("solution/l", rows - contact_rows);
        r.insert(r.end(), l.begin(), l.end());
    }
    result.solution = vector_of(r);
}

}  // namespace

ContactProblem read_fclib(const std::string& path, std::optional<ProblemKind> kind) {
    const Session session;
    const Reader in(path);
    ContactProblem result;
    result.file = path;
    std::string group;
    int found = 0;
    for (const auto& [name, its_kind] : {std::pair{"fclib_local", ProblemKind::fc},
                                         {"fclib_global", ProblemKind::gfc},
                                         {"fclib_global_rolling", ProblemKind::grfc}})
        if (in.has(name)) {
            group = name;
            result.kind = its_kind;
            ++found;
        }
    if (found == 0)
        in.fail("contains no contact problem: neither fclib_local nor fclib_global nor fclib_global_rolling");
    if (found > 1) in.fail("contains more than one contact problem");
    const std::string found_kind(to_string(result.kind));
    if (kind && *kind != result.kind)
        in.fail(group + " is not of the kind " + std::string(to_string(*kind)),
                "the content is that of --kind " + found_kind);
    result.dimension = in.integer(group + "/spacedim", 2, 5);
    const bool rolling = result.kind == ProblemKind::grfc;
    if (result.dimension == 4 || (result.dimension == 5) != rolling)
        in.fail(group + "/spacedim is " + std::to_string(result.dimension) + ", not " + (rolling ? "5" : "2 or 3"));
    if (result.kind == ProblemKind::fc)
        read_local(in, group, result);
    else
        read_global(in, group, result);
    read_solution(in, result);
    return result;
}

// ---- writing

namespace {

/// Builds an HDF5 file in memory. The bytes are written to disk at once afterwards (see files.hpp).
class Writer {
public:
    explicit Writer(std::string target)
        : target_(std::move(target)),
          access_(H5Pcreate(H5P_FILE_ACCESS), H5Pclose),
          creation_(H5Pcreate(H5P_DATASET_CREATE), H5Pclose),
          file_(in_memory(), H5Fclose) {
        check(static_cast<bool>(file_));
        check(H5Pset_obj_track_times(creation_.get(), false) >= 0);  // without times, equal problems give equal bytes
    }

    void group(const std::string& name) const {
        const Id made(H5Gcreate2(file_.get(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
        check(static_cast<bool>(made));
    }

    void write(const std::string& name, const std::vector<std::int32_t>& values) const {
        write(name, H5T_STD_I32LE, H5T_NATIVE_INT32, values.size(), values.data());
    }
    void write(const std::string& name, const std::vector<double>& values) const {
        write(name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, values.size(), values.data());
    }
    void write(const std::string& name, const std::string& text) const {
        const Id type(H5Tcopy(H5T_C_S1), H5Tclose);
        check(type && H5Tset_size(type.get(), text.size() + 1) >= 0);
        const Id space(H5Screate(H5S_SCALAR), H5Sclose);
        write(name, type.get(), type.get(), space, text.c_str());
    }

    std::string content() const {
        check(H5Fflush(file_.get(), H5F_SCOPE_GLOBAL) >= 0);
        const ssize_t size = H5Fget_file_image(file_.get(), nullptr, 0);
        check(size > 0);
        std::string bytes(ix(size), '\0');
        check(H5Fget_file_image(file_.get(), bytes.data(), bytes.size()) == size);
        return bytes;
    }

private:
    void check(bool done) const {
        if (!done) throw Error("cannot be written: HDF5 refused", {target_, 0, 0});
    }

    hid_t in_memory() const {
        constexpr std::size_t growth = std::size_t{1} << 20;  // bytes by which the file in memory grows
        check(access_ && creation_ && H5Pset_fapl_core(access_.get(), growth, false) >= 0);
        return H5Fcreate(target_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access_.get());
    }

    void write(const std::string& name, hid_t stored, hid_t native, std::size_t count, const void* values) const {
        const hsize_t size = count;
        const Id space(H5Screate_simple(1, &size, nullptr), H5Sclose);
        write(name, stored, native, space, values);
    }
    void write(const std::string& name, hid_t stored, hid_t native, const Id& space, const void* values) const {
        check(static_cast<bool>(space));
        const Id set(
            H5Dcreate2(file_.get(), name.c_str(), stored, space.get(), H5P_DEFAULT, creation_.get(), H5P_DEFAULT),
            H5Dclose);
        check(static_cast<bool>(set));
        if (H5Sget_simple_extent_npoints(space.get()) > 0)
            check(H5Dwrite(set.get(), native, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    }

    std::string target_;
    Id access_, creation_, file_;
};

/// A part of a block matrix in compressed rows. Zeros inside present blocks are entries too.
struct CompressedRows {
    std::int32_t rows = 0, columns = 0;
    std::vector<std::int32_t> pointers{0}, indices;
    std::vector<double> values;
};

/// Blocks begin … end − 1.
struct Range {
    int begin, end;
    bool has(int block) const { return block >= begin && block < end; }
};

/// The part of W in these block rows and block columns.
CompressedRows part_of(const solvers::BlockMatrix& W, Range block_rows, Range block_columns) {
    const auto size = [&](Range r) { return W.start[ix(r.end)] - W.start[ix(r.begin)]; };
    const int first = W.start[ix(block_columns.begin)];
    CompressedRows part{size(block_rows), size(block_columns), {0}, {}, {}};
    for (int a = block_rows.begin; a < block_rows.end; ++a)
        for (int i = 0; i < W.block_size(a); ++i) {
            for (int entry = W.row_start[ix(a)]; entry < W.row_start[ix(a) + 1]; ++entry) {
                const int b = W.block_column[ix(entry)], columns = W.block_size(b);
                if (!block_columns.has(b)) continue;
                for (int j = 0; j < columns; ++j) {
                    part.indices.push_back(W.start[ix(b)] - first + j);
                    part.values.push_back(W.values[W.offset[ix(entry)] + ix(i) * ix(columns) + ix(j)]);
                }
            }
            part.pointers.push_back(static_cast<std::int32_t>(part.indices.size()));
        }
    return part;
}

/// Whether contacts and bilateral rows are coupled by V and exactly Vᵀ. The layout stores V only.
bool couples_symmetrically(const solvers::BlockMatrix& W, Range contacts) {
    for (int a = 0; a < W.blocks(); ++a)
        for (int entry = W.row_start[ix(a)]; entry < W.row_start[ix(a) + 1]; ++entry) {
            const int b = W.block_column[ix(entry)], other = W.find(b, a);
            if (contacts.has(a) == contacts.has(b)) continue;
            const std::size_t rows = ix(W.block_size(a)), columns = ix(W.block_size(b));
            for (std::size_t i = 0; i < rows; ++i)
                for (std::size_t j = 0; j < columns; ++j) {
                    const double across = other < 0 ? 0.0 : W.values[W.offset[ix(other)] + j * rows + i];
                    if (W.values[W.offset[ix(entry)] + i * columns + j] != across) return false;
                }
        }
    return true;
}

/// The number of contacts, which come before the bilateral rows. Throws Error if the layout cannot hold the problem.
int writable_contacts(const solvers::FrictionProblem& problem, const Place& target) {
    using solvers::LawKind;
    const auto refuse = [&](const std::string& what) { throw Error("the FCLIB local layout needs " + what, target); };
    const auto is_bilateral = [](const solvers::Law& law) { return law.kind == LawKind::bilateral; };
    const auto first = std::find_if(problem.laws.begin(), problem.laws.end(), is_bilateral);
    const auto contacts = static_cast<int>(first - problem.laws.begin());
    for (int k = 0; k < problem.contacts(); ++k) {
        const solvers::Law& law = problem.laws[ix(k)];
        if (is_bilateral(law)) continue;
        if (k > contacts)
            refuse("bilateral rows after all contacts; contact " + std::to_string(k) + " comes after bilateral rows");
        if (law.kind != problem.laws.front().kind || (law.kind != LawKind::friction2 && law.kind != LawKind::friction3))
            refuse("contacts that all have planar friction or all have spatial friction; contact " + std::to_string(k) +
                   " is different");
        SALTUS_EXPECT(problem.W.block_size(k) == solvers::law_size(law.kind));
    }
    if (!couples_symmetrically(problem.W, {0, contacts}))
        refuse("symmetric couplings of contacts and bilateral rows; here they are not symmetric");
    if (problem.W.values.size() > ix(std::numeric_limits<std::int32_t>::max())) refuse("at most 2^31 - 1 entries");
    return contacts;
}

void write_matrix(const Writer& out, const std::string& name, const CompressedRows& A) {
    const auto one = [&](const char* key, std::int32_t value) {
        out.write(name + key, std::vector<std::int32_t>{value});
    };
    out.group(name);
    one("/m", A.rows);
    one("/n", A.columns);
    one("/nz", -2);  // compressed rows
    one("/nzmax", static_cast<std::int32_t>(A.values.size()));
    out.write(name + "/p", A.pointers);
    out.write(name + "/i", A.indices);
    out.write(name + "/x", A.values);
}

}  // namespace

void write_fclib_local(const std::string& folder, const std::string& name, const solvers::FrictionProblem& problem,
                       const std::string& title) {
    const std::string target = (std::filesystem::path(folder) / name).string();
    const solvers::BlockMatrix& W = problem.W;
    SALTUS_EXPECT(W.blocks() == problem.contacts() && ix(W.rows()) == problem.q.size());
    const Range contacts{0, writable_contacts(problem, {target, 0, 0})}, bilateral{contacts.end, W.blocks()};
    const bool planar = contacts.end > 0 && problem.laws.front().kind == solvers::LawKind::friction2;
    std::vector<double> mu;
    for (int k = 0; k < contacts.end; ++k) mu.push_back(problem.laws[ix(k)].mu);
    const auto first_bilateral = problem.q.begin() + W.start[ix(contacts.end)];

    std::string content;
    {
        const Session session;
        const Writer out(target);
        out.group("fclib_local");
        out.write("fclib_local/spacedim", std::vector<std::int32_t>{planar ? 2 : 3});
        write_matrix(out, "fclib_local/W", part_of(W, contacts, contacts));
        out.group("fclib_local/vectors");
        out.write("fclib_local/vectors/q", std::vector<double>(problem.q.begin(), first_bilateral));
        out.write("fclib_local/vectors/mu", mu);
        if (bilateral.begin < bilateral.end) {
            write_matrix(out, "fclib_local/V", part_of(W, contacts, bilateral));
            write_matrix(out, "fclib_local/R", part_of(W, bilateral, bilateral));
            out.write("fclib_local/vectors/s", std::vector<double>(first_bilateral, problem.q.end()));
        }
        out.group("fclib_local/info");
        out.write("fclib_local/info/title", title);
        out.write("fclib_local/info/description", std::string("written by saltus"));
        out.write("fclib_local/info/math_info", std::string());
        content = out.content();
    }
    write_file(folder, name, content);
}

#endif

}  // namespace saltus::io
