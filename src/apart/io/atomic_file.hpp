#pragma once
#include <apart/core/function_ref.hpp>

#include <filesystem>
#include <iosfwd>
#include <string_view>

namespace apart {

/// When the data of a file must be on the disk: before its name is, so that not even a power cut leaves an
/// empty file under the name; or when flush_to_disk is next called, for files that are written often. Waiting
/// for the disk takes milliseconds.
enum class Flush { now, later };

/// Writes a file so that no reader ever sees half of it: into a temporary file beside it, then renamed.
/// Throws InputError with the path and the system's reason if that fails; the old file then still stands.
void write_atomically(const std::filesystem::path& file, FunctionRef<void(std::ostream&)> write,
                      Flush flush = Flush::now);
void write_atomically(const std::filesystem::path& file, std::string_view content, Flush flush = Flush::now);

/// Waits until everything that was written to the disk of this folder is there. Throws InputError if the
/// system says that it cannot be.
void flush_to_disk(const std::filesystem::path& folder);

}  // namespace apart
