#pragma once
#include <apart/core/function_ref.hpp>

#include <filesystem>
#include <iosfwd>
#include <string_view>

namespace apart {

/// Writes a file so that no reader ever sees half of it: into a temporary file beside it, flushed, then
/// renamed. Throws InputError with the path and the system's reason if that fails; the old file then still
/// stands.
void write_atomically(const std::filesystem::path& file, FunctionRef<void(std::ostream&)> write);
void write_atomically(const std::filesystem::path& file, std::string_view content);

}  // namespace apart
