#pragma once
#include <apart/scene/body_description.hpp>

namespace apart {

ShellSubstance make_shell_substance(const ShellDescription& body);

/// `mesh`: as placed. Throws InputError if the rest shape does not fit it.
ShellRest make_shell_rest(const ShellDescription& body, const std::string& name, const Mesh& mesh);

}  // namespace apart
