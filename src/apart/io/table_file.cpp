#include <apart/io/file_reader.hpp>
#include <apart/io/table_file.hpp>

#include <algorithm>

namespace apart {

namespace {

std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> cells;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find(',', begin), line.size());
    cells.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return cells;
}

}  // namespace

const std::vector<double>* Table::find(std::string_view name) const {
  const auto at = std::ranges::find(names, name);
  return at == names.end() ? nullptr : &columns[std::size_t(at - names.begin())];
}

Table read_table(const std::filesystem::path& file, std::size_t most) {
  FileReader reader(file);
  Table table;
  const std::size_t complete = reader.content().rfind('\n');
  if (complete == std::string_view::npos)
    reader.fail("has no line of column names; is it the file of a run?");
  for (const std::string_view name : cells_of(reader.line())) table.names.emplace_back(name);
  table.columns.resize(table.names.size());
  while (reader.position() < complete && table.rows() < most) {
    const std::vector<std::string_view> cells = cells_of(reader.line());
    if (cells.size() != table.names.size())
      reader.fail("has {} columns, must have {} as the first line; start the run again", cells.size(),
                  table.names.size());
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const auto value = parse_real(cells[i]);
      if (!value) reader.fail("has no number for '{}'; start the run again", table.names[i]);
      table.columns[i].push_back(*value);
    }
  }
  return table;
}

}  // namespace apart
