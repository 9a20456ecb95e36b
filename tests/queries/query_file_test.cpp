// Query files: what is written is read back, and a malformed file names its line.
#include <apart/queries/query_file.hpp>

#include <gtest/gtest.h>
#include <support/input_error.hpp>
#include <support/program.hpp>
#include <support/temporary_directory.hpp>

#include <random>
#include <sstream>

namespace apart::test {
namespace {

/// Eight good rows of one query.
std::string rows(const std::string& truth = ",0") {
  std::string text;
  for (int i = 0; i < 8; ++i) text += fmt::format("{},1,{},2,-1,4{}\n", i, 2 * i + 1, truth);
  return text;
}

class QueryFiles : public ::testing::Test {
 protected:
  std::filesystem::path file(const std::string& name, const std::string& content) {
    const auto path = directory / name;
    std::filesystem::create_directories(path.parent_path());
    write_file(path, content);
    return path;
  }
  std::string error(const std::string& content) {
    const auto path = file("edge-edge/bad.csv", content);
    return message_of([&] { read_queries(path); });
  }
  TemporaryDirectory directory;
};

TEST_F(QueryFiles, HoldPointsAtBothTimesAndTheTruth) {
  const QuerySet set = read_queries(file("vertex-face/a.csv", rows(",1") + rows(",0")));
  EXPECT_EQ(set.kind, PairKind::point_triangle);
  ASSERT_EQ(set.pairs.size(), 2u);
  EXPECT_EQ(set.pairs[0].truth, Truth::impact);
  EXPECT_EQ(set.pairs[1].truth, Truth::free);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(set.pairs[0].from[i], Vector3(i, (2 * i + 1) / 2.0, -0.25));
    EXPECT_EQ(set.pairs[0].to[i], Vector3(i + 4, (2 * (i + 4) + 1) / 2.0, -0.25));
  }
  const CcdQuery query = query_of(set.kind, set.pairs[0], 0.125);
  EXPECT_EQ(query.x[2], set.pairs[0].from[2]);
  EXPECT_EQ(query.displacement[2], Vector3(4, 4, 0));
  EXPECT_EQ(query.separation, 0.125);
}

TEST_F(QueryFiles, MayLeaveTheTruthOpen) {
  for (const char* open : {"", ",?", ","}) {
    const QuerySet set = read_queries(file("edge-edge/open.csv", rows(open)));
    EXPECT_EQ(set.kind, PairKind::edge_edge);
    EXPECT_EQ(set.pairs.at(0).truth, Truth::unknown) << open;
  }
}

TEST_F(QueryFiles, NameTheirKindInACommentOrInTheNearestPartOfThePath) {
  EXPECT_EQ(read_queries(file("x.csv", "# edge-edge, made today\n#\n" + rows())).kind, PairKind::edge_edge);
  EXPECT_EQ(read_queries(file("edge-edge/x.csv", "# vertex-face\n" + rows())).kind, PairKind::point_triangle);
  EXPECT_EQ(read_queries(file("edge-edge/my-vertex-face.csv", rows())).kind, PairKind::point_triangle);
  EXPECT_EQ(read_queries(file("vertex-face/deep/er/x.csv", rows())).kind, PairKind::point_triangle);
  const auto nameless = file("x.csv", rows());
  EXPECT_NE(message_of([&] { read_queries(nameless); }).find("begin it with the line '# vertex-face'"),
            std::string::npos);
}

TEST_F(QueryFiles, SayForWhichSeparationTheirTruthIs) {
  EXPECT_EQ(read_queries(file("edge-edge/x.csv", rows())).separation, 0);
  EXPECT_EQ(read_queries(file("edge-edge/x.csv", "# edge-edge, seed 4\n" + rows())).separation, 0);
  EXPECT_EQ(
      read_queries(file("x.csv", "# edge-edge\n# truth for separation 1e-3 , mine\n" + rows())).separation,
      1e-3);
  for (const double separation : {0.0, 0.1, 0x1.23456789abcdp-40}) {
    std::ostringstream out;
    QueryWriter(out, PairKind::edge_edge, "a comment", separation).add(QueryPair());
    EXPECT_EQ(read_queries(file("x.csv", out.str())).separation, separation);
  }
}

TEST_F(QueryFiles, OfWindowsAndWithBlanksAreReadToo) {
  std::string text = rows(" , 1 ");
  for (std::size_t at = 0; (at = text.find('\n', at)) != text.npos; at += 2) text.replace(at, 1, "\r\n");
  const QuerySet set = read_queries(file("edge-edge/x.csv", text + "\r\n \r\n"));
  EXPECT_EQ(set.pairs.size(), 1u);
  EXPECT_EQ(set.pairs[0].truth, Truth::impact);
}

TEST_F(QueryFiles, AreReadBackAsWritten) {
  std::mt19937_64 random(4);
  QuerySet set{PairKind::edge_edge, {}};
  for (int q = 0; q < 300; ++q) {
    QueryPair pair;
    for (StencilPoints* points : {&pair.from, &pair.to})
      for (Vector3& x : *points)
        for (int axis = 0; axis < 3; ++axis)
          x[axis] = std::ldexp(double(std::int64_t(random())), int(random() % 200) - 160);
    pair.truth = Truth(q % 3);
    set.pairs.push_back(pair);
  }
  std::ostringstream out;
  QueryWriter writer(out, set.kind, "a comment");
  for (const QueryPair& pair : set.pairs) writer.add(pair);
  const QuerySet read = read_queries(file("x.csv", out.str()));
  EXPECT_EQ(read.kind, set.kind);
  ASSERT_EQ(read.pairs.size(), set.pairs.size());
  for (std::size_t q = 0; q < set.pairs.size(); ++q) {
    EXPECT_EQ(read.pairs[q].from, set.pairs[q].from);
    EXPECT_EQ(read.pairs[q].to, set.pairs[q].to);
    EXPECT_EQ(read.pairs[q].truth, set.pairs[q].truth);
  }
}

TEST_F(QueryFiles, ThatAreMalformedNameTheLineAndARemedy) {
  struct Bad {
    std::string content;
    std::vector<std::string> parts;
  };
  const std::string good = rows();
  const Bad cases[] = {
      {"", {"bad.csv: is empty"}},
      {"\n\n", {"bad.csv: holds no query"}},
      {"# vertex-face\n", {"bad.csv: holds no query"}},
      {"# vertex-face\n# edge-edge\n" + good, {"bad.csv:2:", "another kind", "remove one"}},
      {good + "1,1,2\n", {"bad.csv:9: has 3 columns, must have 7", "write the file again"}},
      {good + "1,1,2,1,3,1,0,5\n", {"bad.csv:9: has 8 columns"}},
      {good + "1,1,2,1,3,1,0\n", {"bad.csv:9: the file ends after 9 rows", "multiple of 8", "cut off"}},
      {good + "1,1,2,1,3,1,0\n\n", {"the file ends after 9 rows"}},
      {good + "1,0,2,1,3,1,0\n", {"bad.csv:9: the denominator of x is 0"}},
      {good + "1,1," + std::string(10001, '7') + ",1,3,1,0\n",
       {"bad.csv:9: y: has 10001 digits, at most 10000"}},
      {good + "1,1,2,1,0.5,1,0\n", {"bad.csv:9: z: got '0.5' / '1', must be two integers", "0.5 as 1,2"}},
      {good + "1,1,,1,3,1,0\n", {"bad.csv:9: y: got '' / '1'"}},
      {good + "1,1,2,1,3,1,2\n", {"bad.csv:9: the truth: got '2', must be 0 (never touch), 1 (touch) or ?"}},
      {good + "1" + std::string(400, '0') + ",1,2,1,3,1,0\n", {"bad.csv:9: x:", "beyond the largest double"}},
      {"\n" + good, {"bad.csv:1: is blank, but rows follow"}},
      {good + "\n" + good, {"bad.csv:9: is blank, but rows follow"}},
      {good + good.substr(0, good.size() - 2) + "1\n", {"bad.csv:16: the truth differs", "all 8 rows"}},
      {good.substr(0, good.find('\n') + 1), {"bad.csv:1: the file ends after 1 row, "}},
      {"hello\n", {"bad.csv:1: has 1 column, must"}},
      {std::string("\0\1\2\n", 4), {"bad.csv:1: has 1 column, must"}},
      {"# truth for separation 1 mm\n" + good,
       {"bad.csv:1: truth for separation: got '1 mm'", "number of metres", "correct or remove"}},
      {"# truth for separation -1\n" + good, {"bad.csv:1: truth for separation: got '-1'"}},
      {"# truth for separation inf\n" + good, {"bad.csv:1: truth for separation: got 'inf'"}},
      {"# truth for separation 1\n# truth for separation 2\n" + good,
       {"bad.csv:2: names another separation than a line above; remove one"}},
  };
  for (const Bad& bad : cases) {
    const std::string message = error(bad.content);
    for (const std::string& part : bad.parts)
      EXPECT_NE(message.find(part), std::string::npos) << "missing: " << part << "\nin: " << message;
  }
}

TEST_F(QueryFiles, ThatCannotBeReadAreErrors) {
  const auto missing = directory / "edge-edge-no.csv", folder = directory.path();
  EXPECT_NE(message_of([&] { read_queries(missing); }).find("no such file"), std::string::npos);
  EXPECT_NE(message_of([&] { read_queries(folder); }).find("not a regular file"), std::string::npos);
}

TEST_F(QueryFiles, AreFoundInFoldersInOrderAndOnce) {
  file("a/edge-edge/2.csv", rows());
  file("a/edge-edge/1.csv", rows());
  file("a/readme.md", "hello");
  file("a/vertex-face/0.csv", rows());
  std::filesystem::create_directories(directory / "empty");
  const std::string folder = (directory / "a").string(), one = (directory / "a/edge-edge/2.csv").string();
  const auto found = find_query_files(std::vector<std::string>{one, folder});
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0], one);
  EXPECT_EQ(found[1], directory / "a/edge-edge/1.csv");
  EXPECT_EQ(found[2], directory / "a/vertex-face/0.csv");
  std::filesystem::create_symlink(directory / "a", directory / "link");
  for (const std::string other : {"./a", "a/../a", "a/", "link", "a/edge-edge/2.csv"}) {
    const std::string spelled = (directory / other).string();
    EXPECT_EQ(find_query_files(std::vector<std::string>{folder, spelled}).size(), 3u) << spelled;
  }
  const std::string empty = (directory / "empty").string(), no = (directory / "no").string();
  EXPECT_NE(message_of([&] { find_query_files(std::vector<std::string>{empty}); }).find("has no *.csv"),
            std::string::npos);
  EXPECT_NE(
      message_of([&] { find_query_files(std::vector<std::string>{no}); }).find("no such file or folder"),
      std::string::npos);
}

TEST_F(QueryFiles, AreNotReplacedUnlessAsked) {
  const auto folder = directory / "out";
  prepare_query_folder(folder, "x", false);
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  const auto stored = query_file_in(folder, PairKind::edge_edge, "x");
  write_query_file(stored, [](std::ostream& out) { out << rows(); });
  EXPECT_NE(
      message_of([&] { prepare_query_folder(folder, "x", false); }).find("exists; choose another folder"),
      std::string::npos);
  prepare_query_folder(folder, "y", false);  // another set beside it
  prepare_query_folder(folder, "x", true);
  EXPECT_EQ(read_queries(stored).pairs.size(), 1u) << "stands until the new one is complete";
  write_query_file(stored, [&](std::ostream& out) {
    out << rows() << rows();
    out.flush();
    EXPECT_EQ(read_queries(stored).pairs.size(), 1u);
  });
  EXPECT_EQ(read_queries(stored).pairs.size(), 2u);
  write_file(folder / "edge-edge/other.csv", rows());
  remove_query_file(stored);
  EXPECT_EQ(content_of(folder), (std::vector<std::string>{"edge-edge", "edge-edge/other.csv"}));
  remove_query_file(folder / "edge-edge/other.csv");
  remove_query_file(query_file_in(folder, PairKind::point_triangle, "x"));  // never was
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  write_file(folder / "vertex-face", "a file");
  EXPECT_NE(message_of([&] { prepare_query_folder(folder, "x", true); }).find("must be a folder"),
            std::string::npos);
  const auto taken = file("taken", "a file");
  EXPECT_NE(message_of([&] { prepare_query_folder(taken, "x", false); }).find("cannot be prepared"),
            std::string::npos);
}

}  // namespace
}  // namespace apart::test
