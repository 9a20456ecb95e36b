#include <apart/io/atomic_file.hpp>
#include <apart/io/file_reader.hpp>
#include <apart/io/run_digests.hpp>

#include <algorithm>
#include <fstream>
#include <map>

namespace apart {

namespace {

constexpr std::string_view scene_name = "scene.json";
constexpr std::size_t digest_digits = 64;

bool is_line(std::string_view line) {
  const auto unprintable = [](char c) { return static_cast<unsigned char>(c) < ' '; };
  return line.size() > digest_digits + 2 && line.substr(digest_digits, 2) == "  " &&
         line.substr(0, digest_digits).find_first_not_of("0123456789abcdef") == line.npos &&
         std::none_of(line.begin(), line.end(), unprintable);
}

}  // namespace

std::string file_digest(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  Sha256 hash;
  std::vector<char> buffer(1 << 16);
  while (in) {
    in.read(buffer.data(), std::streamsize(buffer.size()));
    hash.add({buffer.data(), std::size_t(in.gcount())});
  }
  if (!in.eof())
    throw InputError("{}: cannot be read; restore it or run the simulation again", file.string());
  return hash.digest();
}

std::vector<FileDigest> read_digests(const std::filesystem::path& run_directory) {
  FileReader reader(run_directory / digests_name);
  std::vector<FileDigest> list;
  while (!reader.at_end()) {
    const std::string_view line = reader.line();
    if (!is_line(line)) reader.fail("is not a digest and a file; the list of digests is damaged");
    list.push_back({std::string(line.substr(0, digest_digits)), std::string(line.substr(digest_digits + 2))});
  }
  return list;
}

RunDigests::RunDigests(std::filesystem::path run_directory, const std::vector<std::string>& files)
    : directory_(std::move(run_directory)) {
  std::map<std::string, std::string> known;
  if (std::error_code error; std::filesystem::exists(directory_ / digests_name, error)) {
    FileReader reader(directory_ / digests_name);
    // The last line may be cut off, if the process was killed.
    while (!reader.at_end())
      if (const std::string_view line = reader.line(); is_line(line))
        known[std::string(line.substr(digest_digits + 2))] = line.substr(0, digest_digits);
  }
  std::string text;
  for (const std::string& file : files) {
    const auto found = known.find(file);
    const std::string digest =
        found != known.end() && file != scene_name ? found->second : file_digest(directory_ / file);
    if (file == scene_name) scene_ = digest;
    text += FileDigest{digest, file}.line();
  }
  hash_.add(text);
  write_atomically(directory_ / digests_name, text);
}

void RunDigests::add(const std::string& file) {
  const std::string line = FileDigest{file_digest(directory_ / file), file}.line();
  std::ofstream out(directory_ / digests_name, std::ios::app | std::ios::binary);
  out << line << std::flush;
  if (!out)
    throw UnavailableError(
        "{}: cannot be written; check that the disk has space and the folder may be written to",
        (directory_ / digests_name).string());
  hash_.add(line);
}

}  // namespace apart
