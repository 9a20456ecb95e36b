#include <apart/geometry/rational.hpp>
#include <apart/io/atomic_file.hpp>
#include <apart/io/file_reader.hpp>
#include <apart/queries/query_file.hpp>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ostream>
#include <set>

namespace apart {

namespace fs = std::filesystem;

namespace {

constexpr PairKind query_kinds[] = {PairKind::point_triangle, PairKind::edge_edge};

/// The kind a text names, if it names exactly one.
std::optional<PairKind> kind_named_in(std::string_view text) {
  std::optional<PairKind> found;
  for (const PairKind kind : query_kinds)
    if (text.find(query_kind_name(kind)) != text.npos) {
      if (found) return std::nullopt;
      found = kind;
    }
  return found;
}

std::optional<PairKind> kind_of_path(const fs::path& file) {
  std::error_code error;
  fs::path full = fs::absolute(file, error);
  if (error) full = file;
  for (; full.has_filename(); full = full.parent_path())
    if (const auto kind = kind_named_in(full.filename().string())) return kind;
  return std::nullopt;
}

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

constexpr std::string_view separation_words = "truth for separation ";

/// [m] The separation that a comment says the truth is for, if it does.
std::optional<double> separation_named_in(std::string_view comment, const FileReader& reader) {
  const std::size_t at = comment.find(separation_words);
  if (at == comment.npos) return std::nullopt;
  comment.remove_prefix(at + separation_words.size());
  const std::string_view text = trimmed(comment.substr(0, comment.find(',')));
  const std::optional<double> separation = parse_real(text);
  if (!separation || !(*separation >= 0) || !std::isfinite(*separation))
    reader.fail("{}: got {}, must be a number of metres, 0 or more; correct or remove the comment",
                trimmed(separation_words), quoted(text));
  return separation;
}

struct Row {
  Vector3 x;  ///< [m]
  Truth truth = Truth::unknown;
};

class RowParser {
 public:
  explicit RowParser(const FileReader& reader) : reader_(reader) {}

  Row parse(std::string_view line) {
    split(line);
    if (count_ != 6 && count_ != 7)
      reader_.fail(
          "has {} column{}, must have 7: numerator and denominator of x, y and z, then the truth; remove "
          "what does not belong to a query or write the file again",
          count_, count_ == 1 ? "" : "s");
    Row row;
    for (std::size_t axis = 0; axis < 3; ++axis) row.x[Eigen::Index(axis)] = coordinate(axis);
    if (count_ == 7) row.truth = truth(columns_[6]);
    return row;
  }

 private:
  void split(std::string_view line) {
    for (count_ = 0;; ++count_) {
      const std::size_t comma = line.find(',');
      if (count_ < columns_.size()) columns_[count_] = trimmed(line.substr(0, comma));
      if (comma == line.npos) break;
      line.remove_prefix(comma + 1);
    }
    ++count_;
  }

  double coordinate(std::size_t axis) const {
    const std::string_view numerator = columns_[2 * axis], denominator = columns_[2 * axis + 1];
    // Doubles need 309 digits at most, their denominators 324; beyond that only time and memory are lost.
    constexpr std::size_t most_digits = 10'000;
    if (std::max(numerator.size(), denominator.size()) > most_digits)
      reader_.fail("{}: has {} digits, at most {} are read; write the file again", "xyz"[axis],
                   std::max(numerator.size(), denominator.size()), most_digits);
    const ParsedFraction parsed = parse_fraction(numerator, denominator);
    const char name = "xyz"[axis];
    if (parsed.fault == FractionFault::zero_denominator)
      reader_.fail("the denominator of {} is 0; write the file again", name);
    if (parsed.fault == FractionFault::not_a_number)
      reader_.fail("{}: got {} / {}, must be two integers; coordinates are written as fractions, 0.5 as 1,2",
                   name, quoted(numerator), quoted(denominator));
    if (!std::isfinite(parsed.value))
      reader_.fail("{}: {} / {} is beyond the largest double; scale the query down", name, quoted(numerator),
                   quoted(denominator));
    return parsed.value;
  }

  Truth truth(std::string_view text) const {
    if (text == "0") return Truth::free;
    if (text == "1") return Truth::impact;
    if (text == "?" || text.empty()) return Truth::unknown;
    reader_.fail("the truth: got {}, must be 0 (never touch), 1 (touch) or ? (unknown)", quoted(text));
  }

  const FileReader& reader_;
  std::array<std::string_view, 7> columns_;
  std::size_t count_ = 0;  ///< of the line's columns, also those beyond the seventh
};

}  // namespace

std::string_view query_kind_name(PairKind kind) {
  return kind == PairKind::edge_edge ? "edge-edge" : "vertex-face";
}

QuerySet read_queries(const fs::path& file) {
  FileReader reader(file);
  std::optional<PairKind> kind;
  std::optional<double> separation;
  while (reader.content().substr(reader.position()).starts_with('#')) {
    const std::string_view comment = reader.line();
    const auto named = kind_named_in(comment);
    if (named && kind && *kind != *named) reader.fail("names another kind than a line above; remove one");
    if (named) kind = named;
    const auto distance = separation_named_in(comment, reader);
    if (distance && separation && *distance != *separation)
      reader.fail("names another separation than a line above; remove one");
    if (distance) separation = distance;
  }
  if (!kind) kind = kind_of_path(file);
  if (!kind)
    throw InputError(
        "{}: is it vertex-face or edge-edge? Put it into a folder of that name, or begin it with the line "
        "'# vertex-face' or '# edge-edge'",
        file.string());

  QuerySet set{*kind, {}, separation.value_or(0)};
  set.pairs.reserve(reader.remaining() / 512);  // a guess; rows are 16 to 160 characters long
  RowParser parser(reader);
  std::size_t rows = 0, end_of_blank = 0;
  while (!reader.at_end()) {
    const std::string_view line = reader.line();
    if (trimmed(line).empty()) {  // only at the end
      const std::size_t blank = reader.mark();
      if (reader.skip_blank())
        reader.fail_at(blank, "is blank, but rows follow; remove the line, or look for what is missing");
      end_of_blank = blank;
      break;
    }
    const Row row = parser.parse(line);
    if (rows % 8 == 0) {
      set.pairs.emplace_back();
      set.pairs.back().truth = row.truth;
    }
    QueryPair& pair = set.pairs.back();
    if (row.truth != pair.truth)
      reader.fail("the truth differs from that of the query's first row; all 8 rows of a query must agree");
    (rows % 8 < 4 ? pair.from : pair.to)[rows % 4] = row.x;
    ++rows;
  }
  if (rows == 0) throw InputError("{}: holds no query; write the file again", file.string());
  if (rows % 8 != 0)
    reader.fail_at(
        end_of_blank > 0 ? end_of_blank : reader.mark(),
        fmt::format("the file ends after {} row{}, which is not a multiple of 8; it may have been cut off, "
                    "write it again",
                    rows, rows == 1 ? "" : "s"));
  return set;
}

QueryWriter::QueryWriter(std::ostream& out, PairKind kind, std::string_view comment, double separation)
    : out_(out) {
  out_ << "# " << query_kind_name(kind);
  if (!comment.empty()) out_ << ", " << comment;
  if (separation > 0) out_ << ", " << separation_words << fmt::to_string(separation);
  out_ << '\n';
}

void QueryWriter::add(const QueryPair& pair) {
  static constexpr char truths[] = {'0', '1', '?'};
  text_.clear();
  for (const StencilPoints* points : {&pair.from, &pair.to})
    for (const Vector3& x : *points) {
      for (int axis = 0; axis < 3; ++axis) {
        append_fraction(text_, x[axis]);
        text_ += ',';
      }
      text_ += truths[std::size_t(pair.truth)];
      text_ += '\n';
    }
  out_ << text_;
}

fs::path query_file_in(const fs::path& folder, PairKind kind, std::string_view name) {
  return folder / query_kind_name(kind) / (std::string(name) + ".csv");
}

void prepare_query_folder(const fs::path& folder, std::string_view name, bool force) {
  try {
    // Checked now, not after the hours that a recorded run may take.
    const auto ensure_writable = [](const fs::path& part) {
      if (::access(part.c_str(), W_OK | X_OK) != 0)
        throw fs::filesystem_error("", part, std::error_code(errno, std::generic_category()));
    };
    for (const PairKind kind : query_kinds) {
      const fs::path file = query_file_in(folder, kind, name);
      if (fs::exists(file.parent_path()) && !fs::is_directory(file.parent_path()))
        throw InputError("{}: must be a folder; choose another folder than {}", file.parent_path().string(),
                         folder.string());
      if (fs::exists(file) && !force)
        throw InputError("{}: exists; choose another folder, or replace it with --force", file.string());
      if (fs::exists(file.parent_path())) ensure_writable(file.parent_path());
    }
    fs::create_directories(folder);
    ensure_writable(folder);
  } catch (const fs::filesystem_error& e) {
    throw InputError("{}: cannot be prepared: {}; choose another folder", folder.string(),
                     e.code().message());
  }
}

void write_query_file(const fs::path& file, FunctionRef<void(std::ostream&)> write) {
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  if (error)
    throw InputError("{}: cannot be created: {}; choose another folder", file.parent_path().string(),
                     error.message());
  write_atomically(file, write);
}

void remove_query_file(const fs::path& file) {
  std::error_code error, not_empty;
  if (fs::remove(file, error)) fs::remove(file.parent_path(), not_empty);
  if (error)
    throw InputError("{}: cannot be removed: {}; remove it, it belongs to an earlier set", file.string(),
                     error.message());
}

std::vector<fs::path> find_query_files(std::span<const std::string> names) {
  std::vector<fs::path> files;
  for (const fs::path name : names) {
    std::error_code error;
    if (!fs::is_directory(name, error)) {
      if (!fs::exists(name, error))
        throw InputError("{}: no such file or folder; check the path", name.string());
      files.push_back(name);
      continue;
    }
    std::vector<fs::path> inside;
    try {
      for (const auto& entry : fs::recursive_directory_iterator(name))
        if (entry.path().extension() == ".csv" && entry.is_regular_file()) inside.push_back(entry.path());
    } catch (const fs::filesystem_error& e) {
      throw InputError("{}: cannot be searched: {}; check its permissions", name.string(),
                       e.code().message());
    }
    if (inside.empty())
      throw InputError("{}: has no *.csv in it or below it; name query files, or a folder of them",
                       name.string());
    std::sort(inside.begin(), inside.end());
    files.insert(files.end(), inside.begin(), inside.end());
  }
  std::set<fs::path> seen;
  std::erase_if(files, [&](const fs::path& file) {
    std::error_code error;
    const fs::path canonical = fs::canonical(file, error);
    return !seen.insert(error ? file : canonical).second;
  });
  return files;
}

CcdQuery query_of(PairKind kind, const QueryPair& pair, double separation) {
  CcdQuery query;
  query.kind = kind;
  query.x = pair.from;
  query.separation = separation;
  for (int i = 0; i < point_count(kind); ++i) query.displacement[i] = pair.to[i] - pair.from[i];
  return query;
}

}  // namespace apart
