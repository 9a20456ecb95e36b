#pragma once
// The text of a script, word by word. For script.cpp only.
#include <apart/core/error.hpp>
#include <apart/importers/ipc/script.hpp>
#include <apart/io/file_reader.hpp>

#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

namespace apart::ipc {

struct Word {
  std::string_view text;
  int line = 0;
};

std::vector<std::string_view> lines_of(std::string_view text);

/// The words of a line. A comment begins at a word that begins with '#'; a '\' as the last word, in a comment
/// or not, is kept.
std::vector<Word> words_of(std::string_view line, int number);

/// A script as lines of words, the first of which is a keyword, and numbers among the others. Errors name
/// file, line and keyword.
class WordReader {
 public:
  WordReader(const std::filesystem::path& file, std::string_view text) : lines_(lines_of(text)) {
    script_.file = file;
  }

 protected:
  std::string place(int line) const { return fmt::format("{}:{}", script_.file.string(), line); }

  template <class... Args>
  [[noreturn]] void fail(int line, fmt::format_string<Args...> format, Args&&... args) const {
    throw InputError("{}: {}", place(line), fmt::format(format, std::forward<Args>(args)...));
  }

  void ignore(const Word& word, std::string_view why) {
    script_.ignored.push_back({word.line, fmt::format("'{}' has no effect here: {}", word.text, why)});
  }

  /// Moves to the next line, joined with those that a '\' at its end continues it with; false at the end of
  /// the file.
  bool next_line() {
    words_.clear();
    at_ = 0;
    if (next_ == lines_.size()) return false;
    while (next_ < lines_.size()) {
      const auto words = words_of(lines_[next_], int(next_) + 1);
      ++next_;
      words_.insert(words_.end(), words.begin(), words.end());
      if (words_.empty() || words_.back().text != "\\") break;
      words_.pop_back();
    }
    return true;
  }

  bool more() const { return at_ < words_.size(); }

  Word word(std::string_view what) {
    if (!more()) fail(keyword_.line, "'{}' needs {}", keyword_.text, what);
    return words_[at_++];
  }

  double real(std::string_view what) {
    const Word w = word(what);
    const auto value = parse_real(w.text);
    if (!value || !std::isfinite(*value))
      fail(w.line, "'{}': {}: got {}, must be a number", keyword_.text, what, apart::quoted(w.text));
    return *value;
  }

  int integer(std::string_view what, int low, int high) {
    const Word w = word(what);
    const auto value = parse_integer(w.text);
    if (!value || *value < low || *value > high)
      fail(w.line, "'{}': {}: got {}, must be an integer from {} to {}", keyword_.text, what,
           apart::quoted(w.text), low, high);
    return int(*value);
  }

  /// A number if one comes next.
  std::optional<double> optional_real() {
    if (!more()) return std::nullopt;
    const auto value = parse_real(words_[at_].text);
    if (value) ++at_;
    return value;
  }

  Vector3 vector(std::string_view what) {
    Vector3 v;
    for (int k = 0; k < 3; ++k) v[k] = real(what);
    return v;
  }

  double positive(std::string_view what) {
    const double value = real(what);
    if (!(value > 0)) fail(keyword_.line, "'{}': {}: got {}, must be positive", keyword_.text, what, value);
    return value;
  }

  double coefficient() {
    const double value = real("coefficient of friction");
    if (!(value >= 0))
      fail(keyword_.line, "'{}': coefficient of friction: got {}, must not be negative", keyword_.text,
           value);
    return value;
  }

  /// Numbers after the last one that is read are leftovers of older versions of the format; words are
  /// mistakes.
  void expect_end() const {
    for (std::size_t i = at_; i < words_.size(); ++i)
      if (!parse_real(words_[i].text))
        fail(words_[i].line, "'{}': got {} after the last value; remove it", keyword_.text,
             apart::quoted(words_[i].text));
  }

  /// Numbers on the lines that follow.
  std::vector<double> listed(int count) {
    std::vector<double> values;
    while (int(values.size()) < count) {
      if (!more()) {
        if (!next_line())
          fail(keyword_.line, "'{}' promises {} numbers, the file ends after {}", keyword_.text, count,
               values.size());
        continue;
      }
      values.push_back(real("one of the numbers that follow"));
    }
    return values;
  }

  template <std::size_t n>
  std::size_t choice(std::string_view what, const std::string_view (&known)[n]) {
    const Word w = word(what);
    for (std::size_t i = 0; i < n; ++i)
      if (w.text == known[i]) return i;
    fail(w.line, "'{}': got {}, must be one of {}", keyword_.text, apart::quoted(w.text),
         fmt::join(known, ", "));
  }

  std::vector<std::string_view> lines_;
  std::size_t next_ = 0;  ///< the line to read next
  std::vector<Word> words_;
  std::size_t at_ = 0;  ///< the word to read next
  Word keyword_;
  IpcScript script_;
};

}  // namespace apart::ipc
