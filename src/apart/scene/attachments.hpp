#pragma once
#include <apart/io/located_json.hpp>
#include <apart/simulation/model.hpp>

namespace apart {

/// The springs that an object of the catalog's group "attachment" puts between bodies a and b. `reach`: how
/// far apart points may be to be attached [m]. Throws InputError if none are that near.
std::vector<Attachment> read_attachment(const LocatedJson& v, const std::vector<Body>& bodies, int a, int b,
                                        double reach);

}  // namespace apart
