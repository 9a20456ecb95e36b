#pragma once
#include <apart/io/file_reader.hpp>

#include <vector>

namespace apart {

/// Datasets and attributes of numbers in an HDF5 file of superblock version 0 or 1, the layout that the
/// library writes by default: groups are trees of symbols, data are contiguous. Everything else throws
/// InputError with the place. [HDF5 File Format Specification, version 3.0]
class Hdf5Reader {
 public:
  explicit Hdf5Reader(const std::filesystem::path& file);

  /// Numbers of any integer or floating-point type, and their shape.
  struct Numbers {
    std::vector<std::uint64_t> shape;  ///< empty: one number
    std::vector<double> values;        ///< rows one after another
  };
  /// A group or dataset of the group at `from`; 0 if there is none.
  std::uint64_t find(std::uint64_t from, std::string_view name);
  std::uint64_t root() const { return root_; }
  Numbers dataset(std::uint64_t object, std::string_view name);
  Numbers attribute(std::uint64_t object, std::string_view name);
  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) const {
    throw InputError("{}: {}", reader_.file().string(), fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  template <class... Args>
  [[noreturn]] void fail_damaged(fmt::format_string<Args...> format, Args&&... args) const {
    fail("is damaged: {}; copy or write it again", fmt::format(format, std::forward<Args>(args)...));
  }
  struct Message {
    int type;
    std::size_t begin, size;  ///< of its content in the file
  };
  struct Type {
    int kind;  ///< 0: integer, 1: floating point
    bool is_signed;
    std::size_t size;
  };
  std::vector<Message> messages(std::uint64_t object);
  std::uint64_t find_in_tree(std::uint64_t node, std::uint64_t names, std::string_view name, int depth);
  bool is_named(std::uint64_t at, std::string_view name);
  Type type_at(std::size_t at);
  std::vector<std::uint64_t> shape_at(std::size_t at);
  std::vector<double> values_at(std::uint64_t at, const Type& type, const std::vector<std::uint64_t>& shape);
  void go(std::uint64_t at);  ///< fails beyond the end
  template <class T>
  T take() {
    return reader_.value<T>("HDF5");
  }

  FileReader reader_;
  std::uint64_t root_ = 0;
  std::size_t budget_;  ///< headers that may still be read: links may make circles
};

}  // namespace apart
