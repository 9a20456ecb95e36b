#pragma once
// Synthetic queries whose truth is exact by construction. Points are integers on a grid, so that nothing
// below is rounded: an impact is a root planted at dyadic t and barycentric coordinates; a miss is proven by
// planes that separate the primitives, each over an interval of time, checked in integers. What cannot be
// proven is drawn again. The integers have at most 53 bits, so the doubles they become, and their files, are
// exact too.
#include <apart/queries/query_file.hpp>

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace apart {

/// What a set of queries is about. Each has as many impacts as misses, and every second miss is a near one:
/// just outside the border, just short of the end, just off the start, or a graze at a distance. In each,
/// some roots lie at the very first or last instant, at corners and on borders; some triangles and edges are
/// long needles, some have all points but one at rest, and some lie a thousand times their size from the
/// origin.
enum class QueryFamily {
  random,             ///< points anywhere in a cube of size 2, moving by up to its size
  near_contact,       ///< distances and motions small against the primitives
  sliding,            ///< motion along the contact, half of them with a double root: a graze
  coplanar,           ///< all four points in one plane all the time
  parallel_edges,     ///< edges parallel, nearly parallel, or parallel at the impact only
  degenerate_points,  ///< triangles that are segments or points, edges that are points
  tiny,               ///< all of these, 1e-6 to 1e-9 in size
  huge,               ///< all of these, 1e6 to 1e9 in size
};

struct FamilyName {
  QueryFamily family;
  std::string_view name;  ///< on the command line
};
inline constexpr std::array<FamilyName, 8> query_families = {
    {{QueryFamily::random, "random"},
     {QueryFamily::near_contact, "near-contact"},
     {QueryFamily::sliding, "sliding"},
     {QueryFamily::coplanar, "coplanar"},
     {QueryFamily::parallel_edges, "parallel-edges"},
     {QueryFamily::degenerate_points, "degenerate-points"},
     {QueryFamily::tiny, "tiny"},
     {QueryFamily::huge, "huge"}}};
std::string_view name_of(QueryFamily family);

struct GeneratorOptions {
  QueryFamily family = QueryFamily::random;
  PairKind kind = PairKind::point_triangle;  ///< or edge_edge
  std::uint64_t seed = 0;
  /// ξ [m]: what is planted is the distance ξ, rounded down to the grid, along one axis; misses stay farther
  /// apart than ξ in the maximum norm. So the truth holds for a separation of ξ, in the maximum and Euclidean
  /// norm.
  double separation = 0;
  bool shifted = false;  ///< all queries, not only some, far from the origin
};

/// Vertex–face pairs and edge–edge pairs, but no vertex–face pairs of parallel edges.
bool has_queries(QueryFamily family, PairKind kind);
/// The largest separation a family takes [m]: the size of its smallest queries.
double largest_separation(QueryFamily family);

struct GeneratedQuery {
  QueryPair pair;
  /// Of an impact: at this time, exactly, Σ weights·x is 0, or ξ along an axis; weights of the first
  /// primitive sum to 1, of the second to −1. There may be an earlier impact.
  double root = 0;
  std::array<double, 4> weights = {};
};

/// Number `index` of a set: the same on every machine, and whichever others are asked for.
GeneratedQuery generate_query(const GeneratorOptions& options, std::uint64_t index);
std::vector<GeneratedQuery> generate_queries(const GeneratorOptions& options, std::uint64_t first,
                                             Index count);

}  // namespace apart
