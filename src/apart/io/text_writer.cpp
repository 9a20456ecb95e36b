#include <apart/core/error.hpp>
#include <apart/io/text_writer.hpp>

#include <ostream>

namespace apart {

void TextWriter::line(std::string_view prefix, std::span<const double> numbers, int) {
  line_.assign(prefix);
  for (const double x : numbers)
    fmt::format_to(std::back_inserter(line_), "{}{}", line_.empty() ? "" : " ", x);
  line_ += '\n';
  out_ << line_;
}

void TextWriter::line(std::string_view prefix, std::span<const int> numbers, int shift) {
  line_.assign(prefix);
  for (const int x : numbers)
    fmt::format_to(std::back_inserter(line_), "{}{}", line_.empty() ? "" : " ", x + shift);
  line_ += '\n';
  out_ << line_;
}

void require_no_cells(const std::filesystem::path& file, std::string_view format, Eigen::Index count,
                      std::string_view cells, std::string_view remedy) {
  if (count > 0)
    throw InputError("{}: {} cannot hold the mesh's {} {}; {}", file.string(), format, count, cells, remedy);
}

}  // namespace apart
