#include <apart/importers/ipc/words.hpp>

#include <algorithm>

namespace apart::ipc {

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    if (lines.back().ends_with('\r')) lines.back().remove_suffix(1);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::vector<Word> words_of(std::string_view line, int number) {
  constexpr std::string_view blanks = " \t\r\v\f";
  std::vector<Word> words;
  bool comment = false;
  while (true) {
    line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
    if (line.empty()) return words;
    const std::size_t end = std::min(line.find_first_of(blanks), line.size());
    const std::string_view word = line.substr(0, end);
    line.remove_prefix(end);
    comment = comment || word.front() == '#';
    if (!comment || (word == "\\" && line.find_first_not_of(blanks) == line.npos))
      words.push_back({word, number});
  }
}

}  // namespace apart::ipc
