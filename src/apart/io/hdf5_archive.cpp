#include <apart/core/error.hpp>
#include <apart/io/hdf5_archive.hpp>
#include <apart/io/sealed_file.hpp>

#include <hdf5.h>

#include <bit>
#include <cstring>

namespace apart {

namespace {

/// An HDF5 identifier that is closed with its function.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {
    if (id < 0) throw InputError("HDF5 refused the data");
  }
  ~Handle() { close_(id_); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  operator hid_t() const { return id_; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

void check(herr_t status) {
  if (status < 0) throw InputError("HDF5 refused the data");
}

/// Files live in memory: they reach the disk sealed and whole, or not at all.
Handle in_memory() {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // errors are ours to report
  return {H5Pcreate(H5P_FILE_ACCESS), H5Pclose};
}

// Behind the image stands a table of its datasets, and reading needs no more: the library, given a damaged
// image, crashes or takes gigabytes (1.10.8 after some hundred random changes), and a checksum can be made by
// anyone. Little-endian integers of 8 bytes: for each dataset the length of its name, the name, its kind, its
// columns (of a vector, its length) and the place of its first byte in the image; at the end the number of
// datasets and the size of all that.
using Kind = ArchiveTable::Kind;

void append(std::string& table, std::uint64_t value) {
  static_assert(std::endian::native == std::endian::little, "written in the machine's own byte order");
  table.append(reinterpret_cast<const char*>(&value), sizeof value);
}

class ImageWriter {
 public:
  explicit ImageWriter(hid_t file) : file_(file) {}

  void add(const std::string& name, Kind kind, hsize_t columns, const void* data) {
    const hid_t stored = kind == Kind::integer ? H5T_STD_I64LE : H5T_IEEE_F64LE;
    const hid_t given = kind == Kind::integer ? H5T_NATIVE_INT64 : H5T_NATIVE_DOUBLE;
    const int dimensions = kind == Kind::matrix ? 2 : kind == Kind::vector ? 1 : 0;
    const hsize_t size[2] = {columns, 3};  // a column of ours is a row there
    const Handle space(dimensions > 0 ? H5Screate_simple(dimensions, size, nullptr) : H5Screate(H5S_SCALAR),
                       H5Sclose);
    // No times in the file: the same archive is the same bytes.
    const Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    check(H5Pset_obj_track_times(properties, false));
    const Handle set(H5Dcreate2(file_, name.c_str(), stored, space, H5P_DEFAULT, properties, H5P_DEFAULT),
                     H5Dclose);
    check(H5Dwrite(set, given, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
    const haddr_t begin = columns > 0 ? H5Dget_offset(set) : 0;
    if (begin == HADDR_UNDEF) throw InputError("HDF5 refused the data");
    table_.add(name, kind, columns, begin);
  }

  std::string image_and_table() {
    check(H5Fflush(file_, H5F_SCOPE_GLOBAL));
    const ssize_t size = H5Fget_file_image(file_, nullptr, 0);
    if (size < 0) throw InputError("HDF5 refused the data");
    std::string image(std::size_t(size), '\0');
    if (H5Fget_file_image(file_, image.data(), image.size()) != size)
      throw InputError("HDF5 refused the data");
    return image + table_.bytes();
  }

 private:
  hid_t file_;
  ArchiveTable table_;
};

std::string image_of(const Archive& archive) {
  const Handle access = in_memory();
  check(H5Pset_fapl_core(access, 1 << 20, 0));
  const Handle file(H5Fcreate("archive", H5F_ACC_TRUNC, H5P_DEFAULT, access), H5Fclose);
  ImageWriter writer(file);
  for (const auto& [name, value] : archive.integers) writer.add(name, Kind::integer, 1, &value);
  for (const auto& [name, value] : archive.reals) writer.add(name, Kind::real, 1, &value);
  for (const auto& [name, vector] : archive.vectors)
    writer.add(name, Kind::vector, hsize_t(vector.size()), vector.data());
  for (const auto& [name, matrix] : archive.matrices)
    writer.add(name, Kind::matrix, hsize_t(matrix.cols()), matrix.data());
  return writer.image_and_table();
}

/// Trusts no number: what a file of n bytes holds takes at most n bytes.
class ImageReader {
 public:
  explicit ImageReader(std::string_view bytes) : image_(bytes) {
    if (bytes.size() < 2 * word) fail();
    table_ = bytes.substr(bytes.size() - word);
    const std::uint64_t size = take();
    if (size < 2 * word || size > bytes.size()) fail();
    image_ = bytes.substr(0, bytes.size() - size);
    table_ = bytes.substr(bytes.size() - 2 * word, word);
    count_ = take();
    table_ = bytes.substr(image_.size(), size - 2 * word);
    budget_ = image_.size();
  }

  Archive read() {
    Archive archive;
    for (std::uint64_t i = 0; i < count_; ++i) {
      const std::uint64_t length = take();
      if (length > table_.size()) fail();
      const std::string name(table_.substr(0, length));
      table_.remove_prefix(length);
      const std::uint64_t kind = take(), columns = take(), begin = take();
      bool fresh = false;
      if (kind == std::uint64_t(Kind::integer) && columns == 1) {
        fresh = archive.integers.try_emplace(name).second;
        copy(&archive.integers[name], 1, begin);
      } else if (kind == std::uint64_t(Kind::real) && columns == 1) {
        fresh = archive.reals.try_emplace(name).second;
        copy(&archive.reals[name], 1, begin);
      } else if (kind == std::uint64_t(Kind::vector) && columns <= budget_ / word) {
        fresh = archive.vectors.try_emplace(name, Eigen::Index(columns)).second;
        if (fresh) copy(archive.vectors[name].data(), columns, begin);
      } else if (kind == std::uint64_t(Kind::matrix) && columns <= budget_ / (3 * word)) {
        fresh = archive.matrices.try_emplace(name, 3, Eigen::Index(columns)).second;
        if (fresh) copy(archive.matrices[name].data(), 3 * columns, begin);
      }
      if (!fresh) fail();
    }
    if (!table_.empty()) fail();
    return archive;
  }

 private:
  static constexpr std::size_t word = sizeof(std::uint64_t);

  [[noreturn]] static void fail() { throw InputError("its table of contents makes no sense"); }

  std::uint64_t take() {
    if (table_.size() < word) fail();
    std::uint64_t value;
    std::memcpy(&value, table_.data(), word);
    table_.remove_prefix(word);
    return value;
  }

  template <class T>
  void copy(T* to, std::uint64_t count, std::uint64_t begin) {
    static_assert(sizeof(T) == word);
    if (count > budget_ / word || begin > image_.size() || count * word > image_.size() - begin) fail();
    budget_ -= count * word;
    if (count > 0) std::memcpy(to, image_.data() + begin, count * word);
  }

  std::string_view image_, table_;
  std::uint64_t count_ = 0, budget_ = 0;  ///< [bytes] that datasets may still take, however they overlap
};

}  // namespace

void ArchiveTable::add(std::string_view name, Kind kind, std::uint64_t columns, std::uint64_t begin) {
  append(entries_, name.size());
  entries_ += name;
  append(entries_, std::uint64_t(kind));
  append(entries_, columns);
  append(entries_, begin);
  ++count_;
}

std::string ArchiveTable::bytes() const {
  std::string result = entries_;
  append(result, count_);
  append(result, result.size() + sizeof(std::uint64_t));
  return result;
}

void write_archive(const std::filesystem::path& file, std::string_view mark, std::uint32_t version,
                   const Archive& archive) {
  write_sealed(file, mark, version, image_of(archive));
}

Archive read_archive(const std::filesystem::path& file, std::string_view mark, std::uint32_t version) {
  const std::string bytes = read_sealed(file, mark, version);
  try {
    return ImageReader(bytes).read();
  } catch (const InputError& e) {
    throw InputError("{}: {}; it was not written by this program", file.string(), e.what());
  }
}

}  // namespace apart
