// The published curved queries, and how many linear ones each method asks for them.
#include "curved_pair.hpp"
#include "interval_method.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>

namespace apart::test {
namespace {

Vector3 vector_in(const nlohmann::json& json) {
  return {json[0].get<double>(), json[1].get<double>(), json[2].get<double>()};
}

Turning motion_in(const nlohmann::json& primitive) {
  const auto &begin = primitive["pose_t0"], &end = primitive["pose_t1"];
  Turning body;
  body.position = vector_in(begin["position"]);
  body.move = vector_in(end["position"]) - body.position;
  body.rotation = vector_in(begin["rotation"]);
  body.turn = vector_in(end["rotation"]) - body.rotation;
  return body;
}

CurvedPair pair_in(const nlohmann::json& json) {
  CurvedPair pair;
  if (json["type"] == "ee") {
    pair.kind = PairKind::edge_edge;
    pair.body = {motion_in(json["edge0"]), motion_in(json["edge1"])};
    pair.local = {vector_in(json["edge0"]["vertex0"]), vector_in(json["edge0"]["vertex1"]),
                  vector_in(json["edge1"]["vertex0"]), vector_in(json["edge1"]["vertex1"])};
  } else {
    pair.kind = PairKind::point_triangle;
    pair.body = {motion_in(json["vertex"]), motion_in(json["face"])};
    pair.local = {vector_in(json["vertex"]["vertex"]), vector_in(json["face"]["vertex0"]),
                  vector_in(json["face"]["vertex1"]), vector_in(json["face"]["vertex2"])};
  }
  return pair;
}

TEST(PublishedCurvedQueries, AreAnsweredBeforeAnythingTouchesAndWithFewQueries) {
  const std::filesystem::path folder = std::filesystem::path(APART_DATA) / "rigid" / "tests" / "data";
  if (!std::filesystem::exists(folder))
    GTEST_SKIP() << "no published curved queries in " << folder.string()
                 << ": put tests/data of github.com/ipc-sim/rigid-ipc there, or name the folder above it: "
                    "cmake -D APART_DATA=folder build";
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  ASSERT_GE(files.size(), 271u);
  int ours = 0, theirs = 0, cut = 0, impacts = 0, their_impacts = 0;
  for (const auto& file : files) {
    SCOPED_TRACE(file.string());
    std::ifstream in(file);
    const CurvedPair pair = pair_in(nlohmann::json::parse(in));
    const double distance = reference_distance(pair.kind, pair.at(0));
    const CurvedAnswer answer = ask(pair);
    EXPECT_TRUE(answer.time != 0.0 || distance < 1e-12 * pair.extent());
    const double until = answer.time.value_or(1);
    const OracleFinding touch = oracle(pair, 0, until);
    EXPECT_FALSE(touch.time) << "touches at " << touch.time.value_or(0) << " of " << until;
    if (file.parent_path().filename() == "kinematic") continue;      // 1e5 rad: thousands of pieces by either
    const CurvedAnswer to_contact = ask(pair, {.gap_fraction = 0});  // as intervals do
    impacts += to_contact.time.has_value();
    cut += !to_contact.corners.empty();
    ours += to_contact.pieces;
    const IntervalAnswer other = interval_method(pair);
    their_impacts += other.time.has_value();
    theirs += other.linear_queries;
    // Each stops when some gap is left: neither may go on where the other has seen a contact.
    const OracleFinding first = oracle(pair, 0, 1, true);
    if (first.time) {
      EXPECT_TRUE(answer.time && *answer.time <= *first.time);
      EXPECT_TRUE(other.time && *other.time <= *first.time);
    }
  }
  fmt::print("{} queries: {} pieces ({} queries cut), {} impacts; intervals: {} linear queries, {} impacts\n",
             files.size(), ours, cut, impacts, theirs, their_impacts);
  EXPECT_LT(ours, theirs);
}

}  // namespace
}  // namespace apart::test
