#include <apart/cluster/parallel_archive.hpp>

#include <apart/core/error.hpp>
#include <apart/io/sealed_file.hpp>

#include <fcntl.h>
#include <hdf5.h>
#include <mpi.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <functional>
#include <system_error>
#include <vector>

namespace apart {

namespace {

namespace fs = std::filesystem;
using Kind = ArchiveTable::Kind;

/// An HDF5 identifier that is closed with its function.
class Identifier {
 public:
  Identifier(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  ~Identifier() { close(); }
  Identifier(const Identifier&) = delete;
  Identifier& operator=(const Identifier&) = delete;
  bool close() {
    const bool good = id_ >= 0 && close_(id_) >= 0;
    id_ = -1;
    return good;
  }
  operator hid_t() const { return id_; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

class TeamWriter {
 public:
  TeamWriter(const MpiTeam& team, const fs::path& file) : team_(team), file_(file) {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // errors are ours to report
  }

  void write(const Archive& archive, std::string_view mark, std::uint32_t version) {
    const std::string table = write_image(archive);
    const ByteSum image = sum_of_image();
    std::string trouble;
    if (team_.leads()) trouble = append(table + seal(joined(image, byte_sum(table)), mark, version));
    agree(trouble);
  }

 private:
  /// Throws for all if there is trouble with one.
  void agree(const std::string& trouble) const {
    if (!team_.any(!trouble.empty())) return;
    const std::vector<Bytes> all = team_.gather(to_bytes(std::span<const char>(trouble)));
    for (std::size_t r = 0; r < all.size(); ++r) {
      if (all[r].empty()) continue;
      const std::string of_one(reinterpret_cast<const char*>(all[r].data()), all[r].size());
      throw UnavailableError("{}: process {} of {} could not write its part: {}; check the space on the disk",
                             file_.string(), r, team_.size(), of_one);
    }
  }
  void agree(bool good) const { agree(good ? std::string() : refusal()); }

  /// HDF5 says that something went wrong. The file system has said why, unless later calls have had the last
  /// word.
  static std::string refusal() {
    for (const int reason : {ENOSPC, EDQUOT, EFBIG, EACCES, EROFS, EIO})
      if (errno == reason) return std::generic_category().message(errno);
    return "HDF5 was refused by the file system";
  }

  /// Returns the table of its datasets.
  std::string write_image(const Archive& archive) {
    const Identifier access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    agree(access >= 0 && H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL) >= 0);
    Identifier file(H5Fcreate(file_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access), H5Fclose);
    agree(file >= 0);
    ArchiveTable table;
    for (const auto& [name, value] : archive.integers)
      table.add(name, Kind::integer, 1, write(file, name, Kind::integer, 1, &value));
    for (const auto& [name, value] : archive.reals)
      table.add(name, Kind::real, 1, write(file, name, Kind::real, 1, &value));
    for (const auto& [name, vector] : archive.vectors)
      table.add(name, Kind::vector, hsize_t(vector.size()),
                write(file, name, Kind::vector, Index(vector.size()), vector.data()));
    for (const auto& [name, matrix] : archive.matrices)
      table.add(name, Kind::matrix, hsize_t(matrix.cols()),
                write(file, name, Kind::matrix, Index(matrix.cols()), matrix.data()));
    agree(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
    agree(file.close());
    return table.bytes();
  }

  /// A dataset, of which this process writes its share; a number is written by the leader. Returns the place
  /// of its first byte.
  std::uint64_t write(hid_t file, const std::string& name, Kind kind, Index columns, const void* data) const {
    const bool integer = kind == Kind::integer, matrix = kind == Kind::matrix;
    const int dimensions = matrix ? 2 : kind == Kind::vector ? 1 : 0;
    const hsize_t size[2] = {hsize_t(columns), 3};  // a column of ours is a row there
    const Identifier space(
        dimensions > 0 ? H5Screate_simple(dimensions, size, nullptr) : H5Screate(H5S_SCALAR), H5Sclose);
    const Identifier properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_obj_track_times(properties, false);
    H5Pset_alloc_time(properties, H5D_ALLOC_TIME_EARLY);
    H5Pset_fill_time(properties, H5D_FILL_TIME_NEVER);
    const Identifier set(H5Dcreate2(file, name.c_str(), integer ? H5T_STD_I64LE : H5T_IEEE_F64LE, space,
                                    H5P_DEFAULT, properties, H5P_DEFAULT),
                         H5Dclose);
    agree(set >= 0);
    if (columns == 0) return 0;
    const auto [first, last] = dimensions > 0  ? team_.share(columns)
                               : team_.leads() ? std::pair<Index, Index>{0, 1}
                                               : std::pair<Index, Index>{0, 0};
    const hsize_t begin[2] = {hsize_t(first), 0}, count[2] = {hsize_t(last - first), 3};
    const Identifier own(H5Screate_simple(std::max(dimensions, 1), count, nullptr), H5Sclose);
    if (first == last) {
      H5Sselect_none(space);
      H5Sselect_none(own);
    } else if (dimensions > 0) {
      H5Sselect_hyperslab(space, H5S_SELECT_SET, begin, nullptr, count, nullptr);
    }
    const Identifier transfer(H5Pcreate(H5P_DATASET_XFER), H5Pclose);
    H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE);
    const auto* values = static_cast<const double*>(data) + std::ptrdiff_t(matrix ? 3 : 1) * first;
    agree(H5Dwrite(set, integer ? H5T_NATIVE_INT64 : H5T_NATIVE_DOUBLE, own, space, transfer, values) >= 0);
    const haddr_t place = H5Dget_offset(set);
    agree(place != HADDR_UNDEF);
    return place;
  }

  /// Each process reads its part again.
  ByteSum sum_of_image() const {
    ByteSum own;
    std::string trouble;
    try {
      const std::uintmax_t size = fs::file_size(file_);
      const auto end = [&](int r) { return size / std::uintmax_t(team_.size()) * std::uintmax_t(r); };
      const std::uintmax_t begin = end(team_.rank()),
                           last = team_.rank() + 1 == team_.size() ? size : end(team_.rank() + 1);
      std::string bytes(last - begin, '\0');
      std::ifstream in(file_, std::ios::binary);
      in.seekg(std::streamoff(begin));
      in.read(bytes.data(), std::streamsize(bytes.size()));
      if (!in) trouble = "it cannot be read again";
      own = byte_sum(bytes);
    } catch (const fs::filesystem_error& e) {
      trouble = e.code().message();
    }
    agree(trouble);
    ByteSum all = byte_sum({});
    for (const ByteSum& part : team_.joined(std::span<const ByteSum>(&own, 1))) all = joined(all, part);
    return all;
  }

  /// Returns what went wrong. When it is done everything is on the disk.
  std::string append(const std::string& bytes) const {
    const int out = ::open(file_.c_str(), O_WRONLY | O_APPEND);
    if (out < 0) return refusal();
    std::size_t done = 0;
    bool good = true;
    while (good && done < bytes.size()) {
      const ssize_t n = ::write(out, bytes.data() + done, bytes.size() - done);
      good = n > 0;
      if (good) done += std::size_t(n);
    }
    good = good && ::fsync(out) == 0;
    const std::string trouble = good ? std::string() : refusal();
    ::close(out);
    return trouble;
  }

  const MpiTeam& team_;
  const fs::path& file_;
};

}  // namespace

void write_archive_together(const MpiTeam& team, const fs::path& file, std::string_view mark,
                            std::uint32_t version, const Archive& archive) {
  TeamWriter(team, file).write(archive, mark, version);
}

}  // namespace apart
