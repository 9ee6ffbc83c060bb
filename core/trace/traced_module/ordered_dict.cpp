#include "core/trace/traced_module/ordered_dict.h"

#include "core/trace/error.h"

namespace sonde::trace {

const Var& OrderedDict::at(const tensor::Value& key) const {
    for (const auto& [name, value] : m_entries) {
        if (tensor::identical(name, key)) return value;
    }
    throw TraceError(TraceErrorKind::Key, pythonText(key));
}

tensor::Value OrderedDict::make(Entries entries) {
    return tensor::Value::object(std::make_shared<OrderedDict>(std::move(entries)));
}

const OrderedDict& OrderedDict::of(const Var& var) {
    const bool isObject = var.kind() == Var::Kind::Value && var.value().kind() == tensor::ValueKind::Object;
    const auto* dict = isObject ? dynamic_cast<const OrderedDict*>(var.value().object().get()) : nullptr;
    if (!dict) throw TraceError(TraceErrorKind::Type, "the argument is not an OrderedDict");
    return *dict;
}

SupportedType OrderedDict::type() {
    SupportedType type;
    type.flatten = [](const tensor::ObjectBase& object) {
        std::vector<Var> parts;
        for (const auto& [key, value] : static_cast<const OrderedDict&>(object).entries()) {
            parts.emplace_back(key);
            parts.push_back(value);
        }
        return parts;
    };
    type.unflatten = [](std::vector<Var> parts) {
        Entries entries;
        for (std::size_t i = 0; i + 1 < parts.size(); i += 2)
            entries.emplace_back(parts[i].value(), std::move(parts[i + 1]));
        return Var(make(std::move(entries)));
    };
    return type;
}

}  // namespace sonde::trace
