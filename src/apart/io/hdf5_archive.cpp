#include <apart/core/error.hpp>
#include <apart/io/hdf5_archive.hpp>
#include <apart/io/sealed_file.hpp>

#include <hdf5.h>

#include <array>
#include <vector>

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

template <class T>
void write_attribute(hid_t file, const std::string& name, hid_t type, const T& value) {
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  const Handle attribute(H5Acreate2(file, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  check(H5Awrite(attribute, type, &value));
}

void write_dataset(hid_t file, const std::string& name, std::array<hsize_t, 2> size, int dimensions,
                   const double* values) {
  const Handle space(H5Screate_simple(dimensions, size.data(), nullptr), H5Sclose);
  // No times in the file: the same archive is the same bytes.
  const Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  check(H5Pset_obj_track_times(properties, false));
  const Handle set(
      H5Dcreate2(file, name.c_str(), H5T_IEEE_F64LE, space, H5P_DEFAULT, properties, H5P_DEFAULT), H5Dclose);
  check(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
}

std::string image_of(const Archive& archive) {
  const Handle access = in_memory();
  check(H5Pset_fapl_core(access, 1 << 20, 0));
  const Handle file(H5Fcreate("archive", H5F_ACC_TRUNC, H5P_DEFAULT, access), H5Fclose);
  for (const auto& [name, value] : archive.integers) write_attribute(file, name, H5T_STD_I64LE, value);
  for (const auto& [name, value] : archive.reals) write_attribute(file, name, H5T_IEEE_F64LE, value);
  for (const auto& [name, vector] : archive.vectors)
    write_dataset(file, name, {hsize_t(vector.size()), 0}, 1, vector.data());
  for (const auto& [name, matrix] : archive.matrices)  // a column of ours is a row there
    write_dataset(file, name, {hsize_t(matrix.cols()), 3}, 2, matrix.data());
  check(H5Fflush(file, H5F_SCOPE_GLOBAL));
  const ssize_t size = H5Fget_file_image(file, nullptr, 0);
  if (size < 0) throw InputError("HDF5 refused the data");
  std::string image(std::size_t(size), '\0');
  if (H5Fget_file_image(file, image.data(), image.size()) != size) throw InputError("HDF5 refused the data");
  return image;
}

/// Names of the attributes or of the datasets at the root.
herr_t note_attribute(hid_t, const char* name, const H5A_info_t*, void* names) {
  static_cast<std::vector<std::string>*>(names)->emplace_back(name);
  return 0;
}
herr_t note_link(hid_t, const char* name, const H5L_info_t*, void* names) {
  static_cast<std::vector<std::string>*>(names)->emplace_back(name);
  return 0;
}

Archive read_image(std::string& image) {
  const Handle access = in_memory();
  check(H5Pset_fapl_core(access, 1 << 20, 0));
  check(H5Pset_file_image(access, image.data(), image.size()));
  const Handle file(H5Fopen("archive", H5F_ACC_RDONLY, access), H5Fclose);
  Archive archive;
  std::vector<std::string> names;
  check(H5Aiterate2(file, H5_INDEX_NAME, H5_ITER_INC, nullptr, note_attribute, &names));
  for (const std::string& name : names) {
    const Handle attribute(H5Aopen(file, name.c_str(), H5P_DEFAULT), H5Aclose);
    const Handle type(H5Aget_type(attribute), H5Tclose), space(H5Aget_space(attribute), H5Sclose);
    if (H5Sget_simple_extent_npoints(space) != 1)
      throw InputError("attribute '{}' is no single number", name);
    if (H5Tget_class(type) == H5T_INTEGER)
      check(H5Aread(attribute, H5T_NATIVE_INT64, &archive.integers[name]));
    else
      check(H5Aread(attribute, H5T_NATIVE_DOUBLE, &archive.reals[name]));
  }
  names.clear();
  check(H5Literate(file, H5_INDEX_NAME, H5_ITER_INC, nullptr, note_link, &names));
  for (const std::string& name : names) {
    const Handle set(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose);
    const Handle space(H5Dget_space(set), H5Sclose);
    const int dimensions = H5Sget_simple_extent_ndims(space);
    hsize_t size[2] = {0, 3};
    if ((dimensions != 1 && dimensions != 2) || H5Sget_simple_extent_dims(space, size, nullptr) < 0 ||
        size[1] != 3 || size[0] > image.size() / (dimensions == 1 ? 1 : 3) / sizeof(double))
      throw InputError("dataset '{}' is neither a list of numbers nor one of points", name);
    double* values;
    if (dimensions == 1) {
      VectorX& vector = archive.vectors[name];
      vector.resize(Eigen::Index(size[0]));
      values = vector.data();
    } else {
      Matrix3X& matrix = archive.matrices[name];
      matrix.resize(3, Eigen::Index(size[0]));
      values = matrix.data();
    }
    check(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
  }
  return archive;
}

}  // namespace

void write_archive(const std::filesystem::path& file, std::string_view mark, std::uint32_t version,
                   const Archive& archive) {
  write_sealed(file, mark, version, image_of(archive));
}

Archive read_archive(const std::filesystem::path& file, std::string_view mark, std::uint32_t version) {
  std::string image = read_sealed(file, mark, version);
  try {
    return read_image(image);
  } catch (const InputError& e) {
    throw InputError("{}: {}; it was not written by this program", file.string(), e.what());
  }
}

}  // namespace apart
