#include "core/operators/overlap.h"

#include "core/operators/names.h"
#include "core/operators/tables.h"

namespace sonde::operators {

bool refusesAnyOverlap(std::string_view name) { return isSpecial("aten", name, Special::RefusesAnyOverlap); }

bool readsNumberFirst(std::string_view name) {
    return isInPlaceName(name) && isSpecial("aten", name, Special::ReadsNumberFirst);
}

}  // namespace sonde::operators
