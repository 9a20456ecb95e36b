#pragma once
#include <string>
#include <vector>

namespace apart {

/// Prints what a user should know about a scene that was read, a line each.
void print_notes(const std::vector<std::string>& notes);

/// A word of a command line, as one would type it.
std::string shell_word(const std::string& word);

}  // namespace apart
