#pragma once
// Files of weights as High-Order IPC publishes them: HDF5 of the oldest layout, byte by byte.
#include <apart/io/weight_file.hpp>

#include <cstring>
#include <map>
#include <string>

namespace apart::test {

class WeightFileWriter {
 public:
  explicit WeightFileWriter(const WeightFile& weights) {
    bytes_.assign(96, '\0');
    std::vector<double> values;
    std::vector<std::int32_t> rows, columns;
    for (const WeightFile::Entry& e : weights.entries) {
      values.push_back(e.value);
      rows.push_back(std::int32_t(e.row));
      columns.push_back(std::int32_t(e.column));
    }
    const std::int64_t shape[2] = {weights.rows, weights.columns};
    std::map<std::string, std::uint64_t> triplets = {{"values", dataset(values, values.size(), 1)},
                                                     {"rows", dataset(rows, rows.size(), 1)},
                                                     {"cols", dataset(columns, columns.size(), 1)}};
    std::map<std::string, std::uint64_t> root = {{"weight_triplets", group(triplets, shape)}};
    const auto add = [&](const char* name, const auto& tuples, std::size_t width) {
      std::vector<std::int64_t> numbers;
      for (const auto& tuple : tuples)
        for (const Index i : tuple) numbers.push_back(i);
      if (!numbers.empty()) root[name] = dataset(numbers, numbers.size() / width, width);
    };
    std::vector<std::array<Index, 1>> corners;
    for (const Index c : weights.corners) corners.push_back({c});
    add("ordered_vertices", corners, 1);
    add("ordered_edges", weights.edges, 2);
    add("ordered_faces", weights.faces, 3);
    const std::uint64_t top = group(root, {});
    std::string head("\x89HDF\r\n\x1a\n", 8);
    head += std::string("\0\0\0\0\0\x08\x08\0\x04\0\x10\0\0\0\0\0", 16);
    for (const std::uint64_t address : {std::uint64_t(0), ~std::uint64_t(0), std::uint64_t(bytes_.size()),
                                        ~std::uint64_t(0), std::uint64_t(0), top})
      put(head, address);
    bytes_.replace(0, head.size(), head);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  template <class T>
  static void put(std::string& to, T value) {
    to.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  template <class T>
  static std::string type_of() {
    std::string text;
    put(text, std::uint8_t(std::is_floating_point_v<T> ? 0x11 : 0x10));
    put(text, std::uint8_t(std::is_floating_point_v<T> ? 0x20 : 0x08));
    put(text, std::uint16_t(std::is_floating_point_v<T> ? 0x3f : 0));
    put(text, std::uint32_t(sizeof(T)));
    text.resize(24, '\0');
    return text;
  }
  static std::string space_of(std::vector<std::uint64_t> shape) {
    std::string text;
    put(text, std::uint8_t(1));
    put(text, std::uint8_t(shape.size()));
    text.resize(8, '\0');
    for (const std::uint64_t n : shape) put(text, n);
    return text;
  }
  static void add_message(std::string& all, int type, std::string content) {
    content.resize((content.size() + 7) / 8 * 8, '\0');
    put(all, std::uint16_t(type));
    put(all, std::uint16_t(content.size()));
    put(all, std::uint32_t(0));
    all += content;
  }
  std::uint64_t place(const std::string& text) {
    bytes_.resize((bytes_.size() + 7) / 8 * 8, '\0');
    const std::uint64_t at = bytes_.size();
    bytes_ += text;
    return at;
  }
  std::uint64_t header(int count, const std::string& messages) {
    std::string text;
    put(text, std::uint16_t(1));
    put(text, std::uint16_t(count));
    put(text, std::uint32_t(1));
    put(text, std::uint64_t(messages.size()));
    return place(text + messages);
  }
  template <class T>
  std::uint64_t dataset(const std::vector<T>& numbers, std::size_t rows, std::size_t width) {
    const std::uint64_t at =
        place(std::string(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(T)));
    std::string messages, layout("\x03\x01", 2);
    add_message(
        messages, 1,
        space_of(width == 1 ? std::vector<std::uint64_t>{rows} : std::vector<std::uint64_t>{rows, width}));
    add_message(messages, 3, type_of<T>());
    put(layout, at);
    put(layout, std::uint64_t(numbers.size() * sizeof(T)));
    add_message(messages, 8, layout);
    return header(3, messages);
  }
  std::uint64_t group(const std::map<std::string, std::uint64_t>& members,
                      std::span<const std::int64_t> shape) {
    std::string names(8, '\0'), symbols("SNOD\x01\0", 6);
    put(symbols, std::uint16_t(members.size()));
    for (const auto& [name, object] : members) {
      put(symbols, std::uint64_t(names.size()));
      put(symbols, object);
      symbols += std::string(24, '\0');
      names += name + '\0';
    }
    const std::uint64_t data = place(names);
    std::string heap("HEAP\0\0\0\0", 8), tree("TREE\0\0\x01\0", 8);
    for (const std::uint64_t n : {std::uint64_t(names.size()), ~std::uint64_t(0), data}) put(heap, n);
    const std::uint64_t list = place(symbols);
    for (const std::uint64_t n : {~std::uint64_t(0), ~std::uint64_t(0), std::uint64_t(0), list}) put(tree, n);
    std::string messages, place_of_both;
    put(place_of_both, place(tree));
    put(place_of_both, place(heap));
    add_message(messages, 0x11, place_of_both);
    if (!shape.empty()) {
      const std::string space = space_of({shape.size()}), type = type_of<std::int64_t>();
      std::string attribute("\x01\0", 2);
      for (const std::size_t n : {std::size_t(6), type.size(), space.size()})
        put(attribute, std::uint16_t(n));
      attribute += std::string("shape\0\0\0", 8) + type + space;
      attribute.append(reinterpret_cast<const char*>(shape.data()), shape.size_bytes());
      add_message(messages, 0x0c, attribute);
    }
    return header(shape.empty() ? 1 : 2, messages);
  }

  std::string bytes_;
};

}  // namespace apart::test
