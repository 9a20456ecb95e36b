#include <apart/core/error.hpp>
#include <apart/io/atomic_file.hpp>

#include <gtest/gtest.h>
#include <support/temporary_directory.hpp>

#include <sys/resource.h>

#include <csignal>
#include <ostream>

namespace apart::test {
namespace {

std::size_t entries(const std::filesystem::path& directory) {
  return std::size_t(std::distance(std::filesystem::directory_iterator(directory), {}));
}

TEST(AtomicFile, WritesExactlyTheBytesGiven) {
  const TemporaryDirectory directory;
  std::string content;
  for (unsigned i = 0; i < 3'000'000; ++i) content += char(i * 7919 >> 3);
  write_atomically(directory / "a.bin", content);
  EXPECT_EQ(read_file(directory / "a.bin"), content);

  write_atomically(directory / "b.bin", [&](std::ostream& out) {
    for (std::size_t i = 0; i < content.size(); i += 1000) out << content.substr(i, 1000);
  });
  EXPECT_EQ(read_file(directory / "b.bin"), content);
  EXPECT_EQ(entries(directory.path()), 2u);
}

TEST(AtomicFile, ReplacesAnOldFile) {
  const TemporaryDirectory directory;
  write_atomically(directory / "a", "a long first content");
  write_atomically(directory / "a", "second");
  EXPECT_EQ(read_file(directory / "a"), "second");
}

TEST(AtomicFile, OldFileStandsUntilTheNewOneIsComplete) {
  const TemporaryDirectory directory;
  write_atomically(directory / "a", "old");
  write_atomically(directory / "a", [&](std::ostream& out) {
    out << "new" << std::flush;
    EXPECT_EQ(read_file(directory / "a"), "old");
  });
  EXPECT_EQ(read_file(directory / "a"), "new");
}

TEST(AtomicFile, ExceptionOfTheWriterLeavesTheOldFileAndNothingElse) {
  const TemporaryDirectory directory;
  write_atomically(directory / "a", "old");
  EXPECT_THROW(write_atomically(directory / "a",
                                [](std::ostream& out) {
                                  out << "half";
                                  throw std::logic_error("stop");
                                }),
               std::logic_error);
  EXPECT_EQ(read_file(directory / "a"), "old");
  EXPECT_EQ(entries(directory.path()), 1u);
}

TEST(AtomicFile, FailureNamesPathAndReason) {
  const TemporaryDirectory directory;
  try {
    write_atomically(directory / "missing" / "a", "text");
    FAIL() << "must throw";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find((directory / "missing/a").string()), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("No such file or directory"), std::string::npos);
  }
  std::filesystem::create_directory(directory / "folder");
  EXPECT_THROW(write_atomically(directory / "folder", "text"), InputError);
  EXPECT_EQ(entries(directory.path()), 1u) << "the temporary file was not removed";
}

TEST(AtomicFile, FullDiskLeavesTheOldFile) {
  const TemporaryDirectory directory;
  write_atomically(directory / "a", "old");
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);  // else the limit kills the process
  const rlimit small{4096, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  EXPECT_THROW(write_atomically(directory / "a", std::string(1'000'000, 'x')), InputError);
  EXPECT_THROW(write_atomically(directory / "a", std::string(10'000, 'x')), InputError);
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(read_file(directory / "a"), "old");
  EXPECT_EQ(entries(directory.path()), 1u);
}

}  // namespace
}  // namespace apart::test
