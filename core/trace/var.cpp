#include "core/trace/var.h"

#include "core/tensor/ellipsis_value.h"

namespace sonde::trace {

using tensor::Value;

Var::Var(const std::vector<std::int64_t>& values) {
    tensor::ValueList items;
    items.reserve(values.size());
    for (std::int64_t value : values) items.push_back(Value::ofInt(value));
    m_value = Value::list(std::move(items));
}

Var Var::container(Kind kind, std::vector<Var> items) {
    Var var;
    var.m_kind = kind;
    var.m_items = std::make_shared<const std::vector<Var>>(std::move(items));
    return var;
}

Var Var::dict(std::vector<std::pair<Value, Var>> items) {
    std::vector<Value> keys;
    std::vector<Var> values;
    for (auto& [key, value] : items) {
        keys.push_back(std::move(key));
        values.push_back(std::move(value));
    }
    Var var = container(Kind::Dict, std::move(values));
    var.m_keys = std::make_shared<const std::vector<Value>>(std::move(keys));
    return var;
}

Var Var::slice(Var start, Var stop, Var step) {
    return container(Kind::Slice, {std::move(start), std::move(stop), std::move(step)});
}

Var Var::slice(Var start, Var stop) { return slice(std::move(start), std::move(stop), Var()); }

Var Var::ellipsis() { return Var(Value::object(std::make_shared<tensor::EllipsisValue>())); }

Var Var::proxy(Tracer& tracer, graph::NodeId node) {
    Var var;
    var.m_kind = Kind::Proxy;
    var.m_tracer = &tracer;
    var.m_node = node;
    return var;
}

}  // namespace sonde::trace
