#pragma once
// Shared by the file readers: the bytes of a file, a position in them, and errors that name the position.
#include <apart/core/error.hpp>
#include <apart/core/types.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace apart {

/// The whole text as a number, independent of the locale; empty if it is none.
std::optional<double> parse_real(std::string_view text);
std::optional<std::int64_t> parse_integer(std::string_view text);

std::string lower_case(std::string_view text);  ///< of ASCII letters

/// Text from a file for use in a message: in quotes, cut if long, unprintable characters replaced.
std::string quoted(std::string_view text);

/// The bytes of a file and a place in them. Formats mix text and binary, so one reader does both. Everything
/// that is wrong throws InputError with the place: "file:12: ..." in text, "file: byte 340: ..." in binary.
/// No number from the file is trusted: sizes are checked against what is left of the file before anything is
/// allocated.
class FileReader {
 public:
  explicit FileReader(std::filesystem::path file);

  const std::filesystem::path& file() const { return file_; }
  std::string_view content() const { return content_; }
  std::size_t position() const { return position_; }
  std::size_t remaining() const { return content_.size() - position_; }
  bool at_end() const { return position_ == content_.size(); }
  void seek(std::size_t position) { position_ = mark_ = position; }

  // Text. `what` names the thing expected, for the message.
  std::string_view token(std::string_view what);  ///< the next word, on this line or a later one
  /// The next word of this line, empty at its end; a final '\' joins lines.
  std::string_view token_on_line();
  std::string_view line();  ///< the rest of this line, without its end; moves to the next
  bool skip_blank();        ///< moves to the next visible character; false if there is none
  double real(std::string_view what);
  double finite_real(std::string_view what);
  std::int64_t integer(std::string_view what);
  /// A count of things that each take at least `bytes_each` of the file from here on.
  Index count(std::string_view what, std::size_t bytes_each);

  // Binary.
  void set_binary(bool binary) { binary_ = binary; }  ///< errors name the byte instead of the line
  void set_byte_order(std::endian order) { swap_ = order != std::endian::native; }
  std::string_view bytes(std::size_t size, std::string_view what);
  template <class T>
  T value(std::string_view what) {
    T result;
    const std::string_view source = bytes(sizeof(T), what);
    if (swap_) {
      char reversed[sizeof(T)];
      for (std::size_t i = 0; i < sizeof(T); ++i) reversed[i] = source[sizeof(T) - 1 - i];
      std::memcpy(&result, reversed, sizeof(T));
    } else {
      std::memcpy(&result, source.data(), sizeof(T));
    }
    return result;
  }

  /// Checks on numbers already read, in text or binary.
  double finite(double value, std::string_view what) const;
  Index checked_count(std::int64_t n, std::string_view what, std::size_t bytes_each) const;

  /// Where the thing read last begins; `fail` names this place.
  std::size_t mark() const { return mark_; }
  std::string place(std::size_t at) const;
  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) const {
    fail_at(mark_, fmt::vformat(format, fmt::make_format_args(args...)));
  }
  [[noreturn]] void fail_at(std::size_t at, const std::string& message) const;

 private:
  std::filesystem::path file_;
  std::string content_;
  std::size_t position_ = 0;
  std::size_t mark_ = 0;
  bool binary_ = false;
  bool swap_ = false;
};

}  // namespace apart
