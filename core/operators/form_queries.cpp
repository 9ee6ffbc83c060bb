#include "core/operators/form_queries.h"

#include "core/operators/names.h"

namespace sonde::operators {

bool isFormQuery(std::string_view name) {
    const std::string_view base = withoutOverload(name);
    return base == "is_floating_point" || base == "is_complex";
}

}  // namespace sonde::operators
