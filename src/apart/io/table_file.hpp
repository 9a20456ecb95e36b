#pragma once
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace apart {

/// Numbers in named columns, as in the CSV files of a run.
struct Table {
  std::vector<std::string> names;
  std::vector<std::vector<double>> columns;  ///< all of the same length

  std::size_t rows() const { return columns.empty() ? 0 : columns.front().size(); }
  const std::vector<double>* find(std::string_view name) const;  ///< null: there is none
};

/// Reads a CSV file with one line of names. A last line without an end, which may be under way, is left out.
/// Throws InputError that names the line if a line has other columns or no number. `most`: rows that are
/// read.
Table read_table(const std::filesystem::path& file,
                 std::size_t most = std::numeric_limits<std::size_t>::max());

}  // namespace apart
