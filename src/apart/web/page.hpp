#pragma once
#include <span>
#include <string_view>

namespace apart {

/// A file of the page that the program carries, made from the folder page/ when it was built.
struct PageFile {
  std::string_view name;  ///< "index.html"
  std::string_view content;
};

/// Empty if the program was built without the page.
std::span<const PageFile> page_files();

}  // namespace apart
