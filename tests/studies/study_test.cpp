#include <apart/core/error.hpp>
#include <apart/studies/study_folder.hpp>

#include <gtest/gtest.h>
#include <support/input_error.hpp>
#include <support/temporary_directory.hpp>

#include <cmath>
#include <set>

namespace apart::test {
namespace {

constexpr const char* scene = R"({"version": 1, "name": "s", "time": {"dt": 0.01, "steps": 2}, "bodies": [
  {"type": "volume", "name": "ball", "mesh": {"generator": "sphere", "resolution": 1}, "transform": {"translate": [0, 0, 0]},
   "material": {"type": "neo_hookean", "E": 1e5}}]})";

/// A study of that scene, with these members.
class StudyFile {
 public:
  StudyFile() { write_file(directory_ / "scene.json", scene); }
  Study read(const std::string& members) {
    write_file(directory_ / "study.json", R"({"scene": "scene.json", )" + members + "}");
    return read_study(directory_ / "study.json");
  }
  std::string error(const std::string& members) {
    return message_of([&] { read(members); });
  }
  const TemporaryDirectory& directory() const { return directory_; }

 private:
  TemporaryDirectory directory_;
};

TEST(Study, AGridHasAllCombinations) {
  StudyFile file;
  const Study study = file.read(
      R"("parameters": {"bodies[ball].material.E": {"values": [1e4, 1e5]},
                        "contact.dhat": {"from": 0.001, "to": 0.1, "count": 3, "scale": "logarithmic"}})");
  ASSERT_EQ(study.runs.size(), 6u);
  EXPECT_EQ(study.changes(0),
            (std::vector<std::string>{"bodies[ball].material.E=10000", "contact.dhat=0.001"}));
  EXPECT_NEAR(std::stod(study.runs[1][1]), 0.01, 1e-15);
  EXPECT_EQ(std::set(study.runs.begin(), study.runs.end()).size(), 6u);
}

TEST(Study, ParametersHaveTheUnitsOfTheCatalog) {
  StudyFile file;
  const Study study = file.read(
      R"("parameters": {"bodies[ball].material.E": {"values": [1e4]}, "bodies[0].material.nu": {"values": [0.3]},
                        "contact.dhat": {"values": [0.001]}, "gravity": {"values": [[0, -1, 0]]},
                        "bodies[ball].velocity": {"values": [[0, 1, 0]]}, "solver.tolerance": {"values": [1e-3]},
                        "bodies[0].transform.translate[1]": {"values": [1]}})");
  EXPECT_EQ(study.units, (std::vector<std::string>{"Pa", "", "m", "m/s2", "m/s", "m/s", "m"}));
}

TEST(Study, AListTakesOneOfEach) {
  StudyFile file;
  const Study study = file.read(
      R"("sampling": "list", "parameters": {"contact.dhat": {"values": [0.001, 0.002]},
                                            "gravity": {"values": [[0, 0, 0], [0, -1, 0]]}})");
  ASSERT_EQ(study.runs.size(), 2u);
  EXPECT_EQ(study.changes(1), (std::vector<std::string>{"contact.dhat=0.002", "gravity=[0, -1, 0]"}));
}

TEST(Study, ALatinHypercubeMeetsEveryPartOfEveryRangeOnce) {
  StudyFile file;
  const std::string members =
      R"("sampling": "latin_hypercube", "runs": 20, "seed": 7,
         "parameters": {"contact.dhat": {"from": 1, "to": 3}, "time.dt": {"from": 0.001, "to": 1, "scale": "logarithmic"}})";
  const Study study = file.read(members);
  std::set<int> parts[2];
  for (const auto& run : study.runs) {
    parts[0].insert(int((std::stod(run[0]) - 1) / 2 * 20));
    parts[1].insert(int(std::log(std::stod(run[1]) / 0.001) / std::log(1000.0) * 20));
  }
  EXPECT_EQ(parts[0].size(), 20u);
  EXPECT_EQ(parts[1].size(), 20u);
  EXPECT_EQ(file.read(members).identity(), study.identity());
}

TEST(Study, RandomValuesStayInTheirRangesAndFollowFromTheSeed) {
  StudyFile file;
  const auto drawn = [&](int seed) {
    return file.read(fmt::format(R"("sampling": "random", "runs": 50, "seed": {},
      "parameters": {{"contact.dhat": {{"from": 2, "to": 3}}, "solver.linear_solver": {{"values": ["cholesky"]}}}})",
                                 seed));
  };
  for (const auto& run : drawn(1).runs) {
    EXPECT_GE(std::stod(run[0]), 2);
    EXPECT_LT(std::stod(run[0]), 3);
    EXPECT_EQ(run[1], "\"cholesky\"");
  }
  EXPECT_EQ(drawn(1).identity(), drawn(1).identity());
  EXPECT_NE(drawn(1).identity(), drawn(2).identity());
}

TEST(Study, BadStudiesAreRefusedWithPlaceAndRemedy) {
  StudyFile file;
  const std::pair<const char*, const char*> cases[] = {
      {R"("parameters": {})", "at least one parameter"},
      {R"("parameter": {})", "did you mean 'parameters'?"},
      {R"("parameters": {"contact.dhat": {}})", "'from' is missing"},
      {R"("parameters": {"contact.dhat": {"values": []}})", "at least one entry"},
      {R"("parameters": {"contact.dhat": {"values": [1], "to": 2}})", "remove one"},
      {R"("parameters": {"contact.dhat": {"from": 1, "to": 2}})", "'count' is missing"},
      {R"("parameters": {"contact.dhat": {"from": 0, "to": 2, "count": 2, "scale": "logarithmic"}})",
       "positive"},
      {R"("parameters": {"contact.dhat": {"values": [1, -1]}})", "cannot be -1: "},
      {R"("parameters": {"contact.dhatt": {"values": [1]}})", "did you mean 'dhat'?"},
      {R"("parameters": {"bodies[bell].material.E": {"values": [1]}})", "its names are: ball"},
      {R"("parameters": {"gravity[0]": {"from": 0, "to": 1, "count": 100000}, "gravity[1]": {"from": 0, "to": 1, "count": 2}})",
       "more than 100000 runs"},
      {R"("sampling": "grit", "parameters": {"contact.dhat": {"values": [1]}})", "must be one of grid"},
      {R"("sampling": "random", "parameters": {"contact.dhat": {"from": 1, "to": 2}})", "'runs' is missing"},
      {R"("runs": 3, "parameters": {"contact.dhat": {"values": [1]}})", "has no effect with sampling grid"},
      {R"("sampling": "list", "parameters": {"contact.dhat": {"values": [1, 2]}, "time.dt": {"values": [1]}})",
       "must have 2 as the first"},
      {R"("parameters": {"contact.dhat": {"values": [1]}}, "results": {"a": {"column": "time"}})",
       "'take' is missing"},
      {R"("parameters": {"contact.dhat": {"values": [1]}}, "results": {"a": {"column": "time", "take": "most"}})",
       "must be one of min, max"}};
  for (const auto& [members, part] : cases) {
    const std::string error = file.error(members);
    EXPECT_NE(error.find("study.json:"), std::string::npos) << error;
    EXPECT_NE(error.find(part), std::string::npos) << members << "\n  " << error;
  }
}

TEST(Study, ASceneThatIsNotThereIsNamedAsSuch) {
  const TemporaryDirectory directory;
  write_file(directory / "study.json",
             R"({"scene": "five-cube", "parameters": {"time.dt": {"values": [1]}}})");
  const std::string error = message_of([&] { read_study(directory / "study.json"); });
  EXPECT_NE(error.find("study.json:1: scene: five-cube: no such file and no such example"), std::string::npos)
      << error;
  EXPECT_NE(error.find("did you mean 'five-cubes'?"), std::string::npos) << error;
}

TEST(Study, ColumnsAreReducedToNumbers) {
  const std::vector<double> column = {3, 1, 2};
  const std::pair<const char*, double> cases[] = {{"min", 1},   {"max", 3},  {"mean", 2},
                                                  {"first", 3}, {"last", 2}, {"sum", 6}};
  EXPECT_EQ(study_reductions().size(), std::size(cases));
  for (const auto& [take, value] : cases) EXPECT_EQ(reduced(column, take), value) << take;
  EXPECT_TRUE(std::isnan(reduced({}, "max")));
}

std::size_t count(const std::string& text, std::string_view word) {
  std::size_t n = 0;
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) ++n;
  return n;
}

/// The page of a study of two parameters whose result is the number of the run.
std::string page_of(const Study& study) {
  StudyTable table;
  table.names = {"run", "status", "reason", study.paths[0], study.paths[1], "end"};
  table.result_units = {""};
  for (std::size_t run = 0; run < study.runs.size(); ++run) {
    const std::string number = std::to_string(run);
    table.rows.push_back({number, "\"finished\"", "", study.runs[run][0], study.runs[run][1], number});
  }
  return study_page(study, table, {});
}

TEST(Study, TheReportHasACurveForEachChoiceOfTheOtherParameters) {
  StudyFile file;
  const std::string grid = page_of(file.read(
      R"("parameters": {"bodies[ball].material.E": {"values": [1e4, 1e6]}, "contact.dhat": {"values": [0.01, 0.02, 0.03]}},
         "results": {"end": {"column": "time", "take": "last"}})"));
  // Over E, whose axis is logarithmic, three curves of two points; over dhat two of three. Names have lines
  // too.
  EXPECT_EQ(count(grid, "<circle"), 3u * 2 + 2u * 3);
  EXPECT_EQ(count(grid, "<polyline"), 3u + 3 + 2 + 2);
  EXPECT_NE(grid.find(">contact.dhat = 0.03</text>"), std::string::npos);
  EXPECT_NE(grid.find(">bodies[ball].material.E = 1e+06</text>"), std::string::npos);
  EXPECT_NE(grid.find(">1e+05</text>"), std::string::npos);
  // Where each choice is met once there is nothing to join.
  const std::string list = page_of(file.read(
      R"("sampling": "list", "parameters": {"bodies[ball].material.E": {"values": [1e4, 2e4]}, "contact.dhat": {"values": [0.01, 0.02]}},
         "results": {"end": {"column": "time", "take": "last"}})"));
  EXPECT_EQ(count(list, "<circle"), 2u * 2);
  EXPECT_EQ(count(list, "<polyline"), 0u);
}

TEST(Study, AFolderHoldsOneStudyAndKnowsWhatIsDone) {
  StudyFile file;
  const Study study = file.read(
      R"("parameters": {"contact.dhat": {"values": [0.01, 0.02]}}, "results": {"end": {"column": "push", "take": "last"}})");
  const auto path = file.directory() / "folder";
  {
    const StudyFolder folder(path, study);
    EXPECT_FALSE(folder.record(1));
    folder.keep(1, {"failed", "no, \"really\"\nnot"});
    std::filesystem::create_directories(folder.run_directory(1));
    write_file(folder.run_directory(1) / "summary.json", R"({"steps": 3, "min_gap": null})");
    write_file(folder.run_directory(1) / "steps.csv", "step,push\n1,5\n2,7\n");
    folder.write_results();
    EXPECT_EQ(folder.record(1)->status, "failed");
    const StudyTable table = folder.table();
    ASSERT_EQ(table.rows.size(), 1u);
    EXPECT_EQ(table.rows[0].back(), "7.0");
    const std::string csv = read_file(path / "results.csv");
    EXPECT_NE(csv.find("\n1,failed,\"no, \"\"really\"\" not\",0.02,3,"), std::string::npos) << csv;
    EXPECT_NE(read_file(path / "report.html").find("end over contact.dhat"), std::string::npos);
    EXPECT_GT(std::filesystem::file_size(path / "results.sqlite"), 1000u);
    EXPECT_THROW(StudyFolder(path, study), InputError);  // in use
    EXPECT_NO_THROW(StudyFolder(path, study, true));
  }
  EXPECT_NO_THROW(StudyFolder(path, study));
  const Study other = file.read(R"("parameters": {"contact.dhat": {"values": [0.03]}})");
  EXPECT_NE(message_of([&] { StudyFolder(path, other); }).find("another study"), std::string::npos);
  EXPECT_NE(message_of([&] { StudyFolder(file.directory().path(), other); }).find("holds no study"),
            std::string::npos);
}

}  // namespace
}  // namespace apart::test
