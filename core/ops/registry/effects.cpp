#include "core/ops/registry/effects.h"

#include <mutex>
#include <set>
#include <string>

#include "core/operators/names.h"
#include "core/operators/traits.h"

namespace sonde::ops {

namespace {

struct Table {
    std::mutex mutex;
    std::set<std::string, std::less<>> names;
};

Table& table() {
    static Table all;
    return all;
}

std::string effectKey(std::string_view domain, std::string_view name) {
    return std::string(domain) + "::" + std::string(name);
}

}  // namespace

void addEffect(std::string_view domain, std::string_view name) {
    const std::scoped_lock lock(table().mutex);
    table().names.insert(effectKey(domain, name));
}

bool mayWriteUnknown(std::string_view domain, std::string_view name) {
    return domain == "aten" && (name.find('.') != std::string_view::npos || operators::isInPlaceName(name));
}

bool hasEffect(const OpDef& op) {
    if (operators::traitsOf(op.domain, op.name).is(operators::Trait::Effect)) return true;
    const std::scoped_lock lock(table().mutex);
    return table().names.contains(effectKey(op.domain, op.name));
}

}  // namespace sonde::ops
