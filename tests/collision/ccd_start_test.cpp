// Primitives that touch at the start are answered at once, also if they part.
#include "ccd_method_list.hpp"

#include <gtest/gtest.h>

namespace apart::test {
namespace {

CcdQuery vertex_on_triangle(const Vector3& vertex) {
  CcdQuery query;
  query.kind = PairKind::point_triangle;
  query.x = {vertex, Vector3(0, 0, 0), Vector3(1, 0, 0), Vector3(0, 1, 0)};
  query.displacement = {Vector3(0.5, 0.25, 2), Vector3::Zero(), Vector3::Zero(), Vector3::Zero()};
  return query;
}

TEST(CcdStart, APairThatTouchesAndPartsIsAnsweredAtOnce) {
  for (const CcdMethod method : all_ccd_methods)
    for (const double gap_fraction : {0.0, 0.2}) {
      const CcdOptions options{.method = method, .gap_fraction = gap_fraction};
      for (const Vector3& vertex :
           {Vector3(0, 0, 0), Vector3(0.25, 0.25, 0), Vector3(0.5, 0.5, 0), Vector3(1, 0, 0)})
        EXPECT_EQ(time_of_impact(vertex_on_triangle(vertex), options).value_or(2), 0) << vertex.transpose();
      CcdQuery edges;
      edges.kind = PairKind::edge_edge;
      edges.x = {Vector3(-1, 0, 0), Vector3(1, 0, 0), Vector3(0, -1, 0), Vector3(0, 1, 0)};
      edges.displacement = {Vector3(0, 0, 1), Vector3(0, 0, 1), Vector3(0, 0, -1), Vector3(0, 0, -1)};
      EXPECT_EQ(time_of_impact(edges, options).value_or(2), 0);
    }
}

TEST(CcdStart, APairCloserThanTheSeparationIsAnsweredAtOnce) {
  for (const CcdMethod method : all_ccd_methods)
    for (const SeparationNorm norm : {SeparationNorm::euclidean, SeparationNorm::maximum}) {
      CcdQuery query = vertex_on_triangle(Vector3(0.25, 0.25, 0.0625));
      query.separation = 0.125;
      EXPECT_EQ(time_of_impact(query, {.method = method, .gap_fraction = 0, .norm = norm}).value_or(2), 0);
    }
}

// Found by generated queries: the vertex begins in a corner of the triangle and leaves it, far from the
// origin.
TEST(CcdStart, AVertexThatLeavesACornerFarFromTheOriginIsSeen) {
  CcdQuery query;
  query.kind = PairKind::point_triangle;
  const Vector3 from[] = {
      Vector3(15965579016091.0 / 65536, 34600366366325.0 / 131072, -2158908478089.0 / 262144),
      Vector3(15965579016091.0 / 65536, 34600366366325.0 / 131072, -2158908478089.0 / 262144),
      Vector3(50919326540741.0 / 262144, 52423654131349.0 / 262144, 10103861312331.0 / 131072),
      Vector3(101221766428547.0 / 262144, 31604260855783.0 / 131072, 2488318381975.0 / 262144)};
  const Vector3 to[] = {
      Vector3(63812742741271.0 / 262144, 69290079588895.0 / 262144, -2053038441003.0 / 262144),
      Vector3(15964341347379.0 / 65536, 17289388187239.0 / 65536, -1932036015451.0 / 262144),
      Vector3(50914375865893.0 / 262144, 52380474147655.0 / 262144, 5108648771825.0 / 65536),
      Vector3(101216815753699.0 / 262144, 493479232249.0 / 2048, 2715190844613.0 / 262144)};
  for (int i = 0; i < 4; ++i) {
    query.x[i] = from[i];
    query.displacement[i] = to[i] - from[i];
  }
  for (const CcdMethod method : all_ccd_methods)
    EXPECT_EQ(time_of_impact(query, {.method = method, .gap_fraction = 0}).value_or(2), 0);
}

}  // namespace
}  // namespace apart::test
