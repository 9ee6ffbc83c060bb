#include <map>
#include <mutex>

#include "core/trace/traced_module/ordered_dict.h"
#include "core/trace/traced_module/structure.h"

namespace sonde::trace {

namespace {

std::mutex& typesMutex() {
    static std::mutex mutex;
    return mutex;
}

std::map<std::string, SupportedType, std::less<>>& supportedTypes() {
    static std::map<std::string, SupportedType, std::less<>> types{{OrderedDict::kTypeName, OrderedDict::type()}};
    return types;
}

}  // namespace

void registerSupportedType(std::string typeName, SupportedType type) {
    const std::scoped_lock lock(typesMutex());
    supportedTypes().insert_or_assign(std::move(typeName), std::move(type));
}

const SupportedType* supportedType(const std::string& typeName) {
    const std::scoped_lock lock(typesMutex());
    const auto found = supportedTypes().find(typeName);
    return found == supportedTypes().end() ? nullptr : &found->second;
}

}  // namespace sonde::trace
