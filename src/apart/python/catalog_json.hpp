#pragma once
#include <string>

namespace apart::python {

/// The catalog as JSON: groups with rows and keys (name, type, unit, default, summary), and choices. The
/// classes of the package, their documentation and type stubs are made from it.
std::string catalog_json();

}  // namespace apart::python
