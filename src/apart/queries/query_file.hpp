#pragma once
// Files of queries of continuous collision detection, with or without the true answer.
//
// Eight rows make one query: the four points at time 0, then the same at time 1. A row holds x, y and z, each
// as an integer numerator and denominator, and the truth: 0 if the primitives never touch, 1 if they do.
//   vertex-face: the vertex, then the face's three points;   edge-edge: two points of one edge, then of the
//   other
// Beyond what the field's benchmark files have, rows may end in '?' or have no seventh column (truth
// unknown), and lines that begin with '#' may come first; they may name the kind, and "truth for separation
// 0.01": then the truth is whether the primitives come that close [m].
#include <apart/collision/ccd.hpp>
#include <apart/core/function_ref.hpp>

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace apart {

enum class Truth : std::uint8_t { free, impact, unknown };

/// Two primitives whose points move straight.
struct QueryPair {
  StencilPoints from, to;  ///< [m] at times 0 and 1
  Truth truth = Truth::unknown;
};

/// Pairs of one kind: point–triangle ("vertex-face") or edge–edge.
struct QuerySet {
  PairKind kind = PairKind::point_triangle;
  std::vector<QueryPair> pairs;
  /// [m] The truth is for this distance. What is an impact stays one for every larger, not for a smaller one.
  double separation = 0;
};

/// "vertex-face" or "edge-edge", as folders and comments name it.
std::string_view query_kind_name(PairKind kind);

/// Reads a file. Its kind follows from a comment at the top, or else from the nearest part of the path that
/// contains "vertex-face" or "edge-edge". Coordinates are rounded to the nearest double. Throws InputError
/// with file and line if anything is wrong.
QuerySet read_queries(const std::filesystem::path& file);

/// Writes queries in this format; coordinates must be finite.
class QueryWriter {
 public:
  /// `separation`: that of QuerySet.
  QueryWriter(std::ostream& out, PairKind kind, std::string_view comment = {}, double separation = 0);
  void add(const QueryPair& pair);

 private:
  std::ostream& out_;
  std::string text_;
};

/// Where a set named `name` of the given kind stands in a folder: FOLDER/vertex-face/NAME.csv.
std::filesystem::path query_file_in(const std::filesystem::path& folder, PairKind kind,
                                    std::string_view name);

/// Prepares a folder for such files of both kinds: creates it, and refuses to replace a file that exists
/// unless `force`. Old files remain until they are replaced. Throws InputError.
void prepare_query_folder(const std::filesystem::path& folder, std::string_view name, bool force);

/// Writes such a file so that an old one remains until the new one is complete. Throws InputError.
void write_query_file(const std::filesystem::path& file, FunctionRef<void(std::ostream&)> write);

/// Removes such a file, and its folder if that is then empty: of an earlier set, where the new one has no
/// queries of the kind. Throws InputError.
void remove_query_file(const std::filesystem::path& file);

/// All files named, and all *.csv below the folders named, in order, each once however it is spelled. Throws
/// InputError if one does not exist or a folder has none.
std::vector<std::filesystem::path> find_query_files(std::span<const std::string> names);

/// As a query of time_of_impact, whose answer covers the rounding of to − from.
CcdQuery query_of(PairKind kind, const QueryPair& pair, double separation = 0);

}  // namespace apart
