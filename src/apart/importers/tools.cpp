#include <apart/importers/tools.hpp>
#include <apart/io/file_reader.hpp>

namespace apart {

namespace fs = std::filesystem;

std::string written_path(const fs::path& file, const fs::path& directory) {
  const fs::path absolute = fs::absolute(file).lexically_normal();
  if (directory.empty()) return absolute.string();
  auto a = absolute.begin(), b = directory.begin();
  int shared = 0;
  for (; a != absolute.end() && b != directory.end() && *a == *b; ++a, ++b) ++shared;
  return (shared > 1 ? absolute.lexically_relative(directory) : absolute).string();
}

std::optional<fs::path> find_upward(const fs::path& from, std::span<const fs::path> paths) {
  std::error_code error;
  fs::path folder = fs::absolute(from).lexically_normal().parent_path();
  while (true) {
    for (const fs::path& path : paths)
      if (const fs::path candidate = folder / path; fs::exists(candidate, error))
        return candidate.lexically_normal();
    if (folder == folder.parent_path()) return std::nullopt;
    folder = folder.parent_path();
  }
}

double tidy(double value) {
  const double rounded = *parse_real(fmt::format("{:.15g}", value));
  return rounded == 0 ? 0 : rounded;  // no negative zero
}

Vector3 tidy(const Vector3& values) {
  return {tidy(values[0]), tidy(values[1]), tidy(values[2])};
}

}  // namespace apart
