#include "core/operators/overlap.h"

#include "core/operators/names.h"

namespace sonde::operators {

bool refusesAnyOverlap(std::string_view name) {
    const std::string_view base = withoutOverload(name);
    return base.starts_with("index_") || base.starts_with("scatter") || base == "masked_scatter_" || base == "put_";
}

bool readsNumberFirst(std::string_view name) {
    const std::string_view base = withoutOverload(name);
    return base == "fill_" || base == "masked_fill_";
}

}  // namespace sonde::operators
