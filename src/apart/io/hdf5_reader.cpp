#include <apart/io/hdf5_reader.hpp>

namespace apart {

namespace {

constexpr std::uint64_t hdf5_undefined = ~std::uint64_t(0);
constexpr std::string_view hdf5_mark("\x89HDF\r\n\x1a\n", 8);
// Types of messages in the header of an object.
constexpr int dataspace_message = 0x01, datatype_message = 0x03, layout_message = 0x08,
              attribute_message = 0x0c, continuation_message = 0x10, symbols_message = 0x11;

std::size_t padded(std::size_t size) {
  return (size + 7) / 8 * 8;
}

}  // namespace

Hdf5Reader::Hdf5Reader(const std::filesystem::path& file) : reader_(file) {
  reader_.set_binary(true);
  reader_.set_byte_order(std::endian::little);
  budget_ = reader_.content().size() / 8 + 64;
  if (!reader_.content().starts_with(hdf5_mark))
    fail("is no HDF5 file; give one that begins with the mark of HDF5");
  go(8);
  const int version = take<std::uint8_t>();
  if (version > 1)
    fail("has the superblock version {}, must be 0 or 1; write it with libver=\"earliest\"", version);
  go(13);
  if (take<std::uint8_t>() != 8 || take<std::uint8_t>() != 8)
    fail("has addresses of another size than 8 bytes; write it with libver=\"earliest\"");
  // Base, free space, end and driver addresses, then the entry of the root: name and header.
  go(version == 0 ? 24 : 28);
  if (take<std::uint64_t>() != 0) fail("does not begin at its first byte; write it without a user block");
  go((version == 0 ? 24 : 28) + 40);
  root_ = take<std::uint64_t>();
}

void Hdf5Reader::go(std::uint64_t at) {
  if (at > reader_.content().size()) fail_damaged("it refers to byte {} beyond its end", at);
  reader_.seek(std::size_t(at));
}

std::vector<Hdf5Reader::Message> Hdf5Reader::messages(std::uint64_t object) {
  go(object);
  if (const int version = take<std::uint8_t>(); version != 1)
    fail("has an object header of version {}, must be 1; write it with libver=\"earliest\"", version);
  take<std::uint8_t>();
  int count = take<std::uint16_t>();
  take<std::uint32_t>();
  const std::uint64_t size = take<std::uint32_t>();
  struct Part {
    std::uint64_t begin, size;
  };
  std::vector<Part> parts = {{object + 16, size}};
  std::vector<Message> result;
  for (std::size_t k = 0; k < parts.size() && count > 0; ++k) {
    std::uint64_t at = parts[k].begin;
    if (parts[k].size > reader_.content().size()) fail_damaged("a header is longer than the file");
    const std::uint64_t end = at + parts[k].size;
    while (count > 0 && at + 8 <= end) {
      if (budget_-- == 0) fail_damaged("its headers make a circle");
      go(at);
      const int type = take<std::uint16_t>();
      const std::uint64_t length = take<std::uint16_t>();
      at += 8;
      if (at + length > end) fail_damaged("a message is longer than its header");
      result.push_back({type, std::size_t(at), std::size_t(length)});
      if (type == continuation_message && length >= 16) {
        go(at);
        const auto begin = take<std::uint64_t>();
        parts.push_back({begin, take<std::uint64_t>()});
      }
      at += length;
      --count;
    }
  }
  return result;
}

std::uint64_t Hdf5Reader::find(std::uint64_t from, std::string_view name) {
  for (const Message& m : messages(from)) {
    if (m.type != symbols_message || m.size < 16) continue;
    go(m.begin);
    const auto tree = take<std::uint64_t>(), heap = take<std::uint64_t>();
    go(heap);
    if (reader_.bytes(4, "heap") != "HEAP") fail_damaged("names of a group are missing");
    go(heap + 24);
    return find_in_tree(tree, take<std::uint64_t>(), name, 0);
  }
  return 0;
}

bool Hdf5Reader::is_named(std::uint64_t at, std::string_view name) {
  go(at);
  return reader_.remaining() > name.size() && reader_.bytes(name.size(), "name") == name &&
         take<char>() == '\0';
}

std::uint64_t Hdf5Reader::find_in_tree(std::uint64_t node, std::uint64_t names, std::string_view name,
                                       int depth) {
  if (depth > 8 || budget_-- == 0) fail_damaged("a group has too many levels");
  go(node);
  const std::string_view mark = reader_.bytes(4, "node");
  if (mark == "TREE") {
    go(node + 6);
    const int count = take<std::uint16_t>();
    for (int k = 0; k < count; ++k) {
      go(node + 32 + 16 * std::uint64_t(k));
      if (const auto found = find_in_tree(take<std::uint64_t>(), names, name, depth + 1)) return found;
    }
    return 0;
  }
  if (mark != "SNOD") fail_damaged("a group has no list of its members");
  go(node + 6);
  const int count = take<std::uint16_t>();
  for (int k = 0; k < count; ++k) {
    go(node + 8 + 40 * std::uint64_t(k));
    const auto at = take<std::uint64_t>(), header = take<std::uint64_t>();
    if (at < reader_.content().size() && is_named(names + at, name)) return header;
  }
  return 0;
}

Hdf5Reader::Type Hdf5Reader::type_at(std::size_t at) {
  go(at);
  const int kind = take<std::uint8_t>() & 0x0f;
  const int bits = take<std::uint8_t>();
  take<std::uint16_t>();
  const std::size_t size = take<std::uint32_t>();
  const bool fits = (kind == 0 && (size == 1 || size == 2 || size == 4 || size == 8)) ||
                    (kind == 1 && (size == 4 || size == 8));
  if (!fits || (bits & 1))
    fail("has data that are no little-endian integers or floating-point numbers; write them as such");
  return {kind, (bits & 8) != 0, size};
}

std::vector<std::uint64_t> Hdf5Reader::shape_at(std::size_t at) {
  go(at);
  const int version = take<std::uint8_t>(), dimensions = take<std::uint8_t>();
  if (version < 1 || version > 2 || dimensions > 2)
    fail("has data of {} dimensions, must be 1 or 2; write lists or tables", dimensions);
  go(at + (version == 1 ? 8 : 4));
  std::vector<std::uint64_t> shape;
  for (int k = 0; k < dimensions; ++k) shape.push_back(take<std::uint64_t>());
  return shape;
}

std::vector<double> Hdf5Reader::values_at(std::uint64_t at, const Type& type,
                                          const std::vector<std::uint64_t>& shape) {
  std::uint64_t count = 1;
  const std::uint64_t most = reader_.content().size() / type.size;
  for (const std::uint64_t n : shape) {
    if (n > most || (n > 0 && count > most / n)) fail_damaged("it claims more data than it has");
    count *= n;
  }
  std::vector<double> values;
  if (count == 0) return values;
  go(at);
  if (count * type.size > reader_.remaining()) fail_damaged("it claims more data than it has");
  values.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    if (type.kind == 1)
      values.push_back(type.size == 8 ? take<double>() : double(take<float>()));
    else if (type.size == 8)
      values.push_back(type.is_signed ? double(take<std::int64_t>()) : double(take<std::uint64_t>()));
    else if (type.size == 4)
      values.push_back(type.is_signed ? double(take<std::int32_t>()) : double(take<std::uint32_t>()));
    else if (type.size == 2)
      values.push_back(type.is_signed ? double(take<std::int16_t>()) : double(take<std::uint16_t>()));
    else
      values.push_back(type.is_signed ? double(take<std::int8_t>()) : double(take<std::uint8_t>()));
  }
  return values;
}

Hdf5Reader::Numbers Hdf5Reader::dataset(std::uint64_t object, std::string_view name) {
  std::optional<Type> type;
  std::optional<std::vector<std::uint64_t>> shape;
  std::optional<std::uint64_t> place;
  for (const Message& m : messages(object)) {
    if (m.type == datatype_message) type = type_at(m.begin);
    if (m.type == dataspace_message) shape = shape_at(m.begin);
    if (m.type != layout_message) continue;
    go(m.begin);
    const int version = take<std::uint8_t>(), kind = take<std::uint8_t>();
    if ((version != 3 && version != 4) || kind > 1)
      fail("stores \"{}\" in pieces, or compressed; write it contiguously", name);
    place = kind == 0 ? m.begin + 4 : take<std::uint64_t>();
  }
  if (!type || !shape || !place) fail("has no data in \"{}\"; write it again", name);
  if (*place == hdf5_undefined) place = 0, *shape = {0};
  return {*shape, values_at(*place, *type, *shape)};
}

Hdf5Reader::Numbers Hdf5Reader::attribute(std::uint64_t object, std::string_view name) {
  for (const Message& m : messages(object)) {
    if (m.type != attribute_message) continue;
    go(m.begin);
    const int version = take<std::uint8_t>();
    take<std::uint8_t>();
    const std::size_t name_size = take<std::uint16_t>(), type_size = take<std::uint16_t>(),
                      space_size = take<std::uint16_t>();
    const auto room = [&](std::size_t size) { return version == 1 ? padded(size) : size; };
    const std::size_t begin = m.begin + (version == 3 ? 9 : 8);
    if (!is_named(begin, name)) continue;
    const std::size_t type = begin + room(name_size), space = type + room(type_size);
    const Type of = type_at(type);
    const std::vector<std::uint64_t> shape = shape_at(space);
    return {shape, values_at(space + room(space_size), of, shape)};
  }
  return {};
}

}  // namespace apart
