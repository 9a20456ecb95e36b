#include <apart/io/file_reader.hpp>
#include <apart/io/stitches.hpp>

#include <limits>

namespace apart {

std::vector<Stitch> read_stitches(const std::filesystem::path& file) {
  FileReader reader(file);
  std::vector<Stitch> stitches;
  const bool is_obj = lower_case(file.extension().string()) == ".obj";
  while (!reader.at_end()) {
    std::string_view word = reader.token_on_line();
    const bool named = word == "stitch";
    if (word.empty() || word.front() == '#' || (is_obj && !named)) {
      reader.line();
      continue;
    }
    if (named) word = reader.token_on_line();
    const auto point = [&](std::string_view text) {
      const auto index = parse_integer(text);
      if (!index || *index < 0 || *index > std::numeric_limits<int>::max())
        reader.fail("point of a stitch: got {}, must be a whole number from 0; write 'stitch a b c t'",
                    apart::quoted(text));
      return int(*index);
    };
    Stitch s;
    s.a = point(word);
    s.b = point(reader.token_on_line());
    // The next word of the line, unless a comment begins.
    bool comment = false;
    const auto next = [&]() -> std::string_view {
      const std::string_view word_or_none = comment ? std::string_view() : reader.token_on_line();
      comment = comment || word_or_none.starts_with('#');
      return comment ? std::string_view() : word_or_none;
    };
    if (const std::string_view third = next(); !third.empty()) {
      s.c = point(third);
      const std::string_view share = next();
      const auto t = parse_real(share);
      if (!t || !(*t >= 0 && *t <= 1))
        reader.fail("share of a stitch: got {}, must lie in [0, 1], from the second point to the third",
                    apart::quoted(share));
      s.t = *t;
    }
    if (const std::string_view more = next(); !more.empty())
      reader.fail("after a stitch: got {}, must be the end of the line; write 'a b' or 'a b c t'",
                  apart::quoted(more));
    stitches.push_back(s);
    reader.line();
  }
  if (stitches.empty()) reader.fail("no stitch ('stitch a b c t') in the file");
  return stitches;
}

}  // namespace apart
