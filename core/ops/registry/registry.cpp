#include "core/ops/registry/registry.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace sonde::ops {

std::string_view name(Category category) {
    switch (category) {
        case Category::Layer: return "layer";
        case Category::Activation: return "activation";
        case Category::Pool: return "pool";
        case Category::Normalization: return "normalization";
        case Category::Elementwise: return "elementwise";
        case Category::Reduction: return "reduction";
        case Category::Transform: return "transform";
        case Category::Shape: return "shape";
        case Category::Tensor: return "tensor";
        case Category::Data: return "data";
        case Category::Quantization: return "quantization";
        case Category::Attention: return "attention";
        case Category::Dropout: return "dropout";
        case Category::Control: return "control";
        case Category::Logic: return "logic";
        case Category::Sequence: return "sequence";
        case Category::Other: return "other";
    }
    return "other";
}

namespace {

/// Names are a few letters: calling memcmp would take longer than to compare them. Those of a row often begin alike.
bool isSame(std::string_view a, std::string_view b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = a.size(); i-- > 0;) {
        if (a[i] != b[i]) return false;
    }
    return true;
}

constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);  // beyond the end of every call

/// Schemas are short: no table is faster than looking along them.
inline std::size_t positionIn(const std::vector<Formal>& formals, const Name& name) {
    for (std::size_t i = 0; i < formals.size(); ++i) {
        if (isSame(formals[i].name, name.name) || (!name.other.empty() && isSame(formals[i].name, name.other)))
            return i;
    }
    return kNowhere;
}

inline std::size_t positionIn(const OpDef* op, const std::vector<Formal> OpDef::*formals, const Name& name) {
    if (!op) throw std::logic_error("names are looked up without the row that has them");
    return positionIn(op->*formals, name);
}

std::size_t requiredPosition(const OpDef* op, const std::vector<Formal> OpDef::*formals, const Name& name) {
    const std::size_t position = positionIn(op, formals, name);
    if (position == kNowhere) throw std::logic_error("the schema has no parameter '" + std::string(name.name) + "'");
    return position;
}

}  // namespace

KernelContext::KernelContext(std::span<const Value> inputs, const Attributes& attributes, std::size_t outputCount,
                             RunEnvironment& environment, const OpDef* op)
    : m_inputs(inputs), m_attributes(attributes), m_outputs(outputCount), m_environment(environment), m_op(op) {}

std::size_t OpDef::position(Name input) const { return std::min(positionIn(inputs, input), inputs.size()); }

const Value& Constants::operator[](Name input) const { return (*this)[requiredPosition(&m_op, &OpDef::inputs, input)]; }

const Value& Constants::operator[](std::size_t position) const {
    static const Value none;
    return position < m_values.size() ? m_values[position] : none;
}

bool KernelContext::has(Name input) const { return has(positionIn(m_op, &OpDef::inputs, input)); }

std::size_t KernelContext::position(Name input) const { return requiredPosition(m_op, &OpDef::inputs, input); }

const Value& KernelContext::value(Name input) const {
    static const Value none;
    const std::size_t at = requiredPosition(m_op, &OpDef::inputs, input);
    return at < m_inputs.size() ? m_inputs[at] : none;
}

const Tensor* KernelContext::optionalIn(Name input) const {
    const std::size_t at = positionIn(m_op, &OpDef::inputs, input);
    return has(at) ? &in(at) : nullptr;
}

bool KernelContext::wants(Name output) const { return wants(positionIn(m_op, &OpDef::outputs, output)); }

base::Result<Tensor> KernelContext::output(Name output, DType dtype, const Shape& shape) {
    return this->output(requiredPosition(m_op, &OpDef::outputs, output), dtype, shape);
}

void KernelContext::setOutput(Name output, Value value) {
    setOutput(requiredPosition(m_op, &OpDef::outputs, output), std::move(value));
}

base::Result<void> KernelContext::runAs(const OpDef& op) {
    const OpDef* own = std::exchange(m_op, &op);
    base::Result<void> result = op.kernel(*this);
    m_op = own;
    return result;
}

base::Result<Tensor> KernelContext::output(std::size_t output, DType dtype, const Shape& shape) {
    // An output that nobody reads still needs a place to be written to.
    base::Result<Tensor> tensor = m_allocator && wants(output) && dtype != DType::String
                                      ? m_allocator->allocate(output, dtype, shape)
                                      : Tensor::allocate(dtype, shape);
    if (tensor && wants(output)) m_outputs[output] = Value(*tensor);
    return tensor;
}

const TypeInfo& InferContext::in(std::size_t input) const {
    static const TypeInfo unknown;
    return input < m_inputs.size() ? m_inputs[input] : unknown;
}

bool InferContext::has(Name input) const { return has(positionIn(m_op, &OpDef::inputs, input)); }

std::size_t InferContext::position(Name input) const { return requiredPosition(m_op, &OpDef::inputs, input); }

const Value& InferContext::constant(Name input) const { return constant(positionIn(m_op, &OpDef::inputs, input)); }

std::optional<Elements> InferContext::elements(Name input) const {
    return elements(positionIn(m_op, &OpDef::inputs, input));
}

void InferContext::set(Name output, TypeInfo type) {
    set(requiredPosition(m_op, &OpDef::outputs, output), std::move(type));
}

base::Result<void> InferContext::inferAs(const OpDef& op) {
    const OpDef* own = std::exchange(m_op, &op);
    base::Result<void> result = op.infer(*this);
    m_op = own;
    return result;
}

const Value& InferContext::constant(std::size_t input) const {
    static const Value none;
    return input < m_constants.size() ? m_constants[input] : none;
}

std::optional<Elements> elementsOf(const Value& value) {
    constexpr std::int64_t kMaxElements = 256;
    using tensor::Symbolic;
    const auto number = [](const Value& one) {
        if (one.kind() == tensor::ValueKind::Int)
            return Symbolic::of(one.toInt());  // a double does not hold all of them
        return one.kind() == tensor::ValueKind::Float ? Symbolic::of(one.number())
                                                      : Symbolic::of(static_cast<std::int64_t>(one.number()));
    };
    Elements result;
    if (value.isNumber()) {
        result.push_back(number(value));
    } else if (value.isTensor()) {
        const Tensor& tensor = value.tensor();
        if (tensor.numel() > kMaxElements || tensor.dtype() == DType::String || tensor::isComplex(tensor.dtype()))
            return std::nullopt;
        const bool isFloat = tensor::isFloating(tensor.dtype());
        for (std::int64_t i = 0; i < tensor.numel(); ++i) {
            result.push_back(isFloat ? Symbolic::of(tensor.toDouble(i)) : Symbolic::of(tensor.toInt64(i)));
        }
    } else if (value.kind() == tensor::ValueKind::List || value.kind() == tensor::ValueKind::Tuple) {
        if (value.items().size() > static_cast<std::size_t>(kMaxElements)) return std::nullopt;
        for (const Value& item : value.items()) {
            if (item.isNumber()) {
                result.push_back(number(item));
            } else {
                const auto inside = elementsOf(item);
                if (item.isTensor() && (!inside || inside->size() != 1)) return std::nullopt;
                result.push_back(inside && item.isTensor() ? inside->front() : Symbolic());
            }
        }
    } else {
        return std::nullopt;
    }
    return result;
}

std::optional<Elements> InferContext::elements(std::size_t input) const {
    if (input < m_elements.size() && m_elements[input]) return m_elements[input];
    return constant(input).isNone() ? std::nullopt : elementsOf(constant(input));
}

const Registry& Registry::all() {
    static const Registry registry = [] {
        Registry table;
        defineAll(table);
        return table;
    }();
    return registry;
}

namespace {

std::string keyOf(std::string_view domain, std::string_view name) {
    std::string key(domain == "ai.onnx" ? std::string_view{} : domain);
    key += "::";
    key += name;
    return key;
}

}  // namespace

void Registry::add(OpDef def) {
    const std::string key = keyOf(def.domain, def.name);
    const int since = def.since;
    m_rows[key].insert_or_assign(since, std::move(def));
}

const OpDef* Registry::find(std::string_view domain, std::string_view name, int version) const {
    const auto versions = m_rows.find(keyOf(domain, name));
    if (versions == m_rows.end()) return nullptr;
    if (version == 0) return &versions->second.rbegin()->second;
    auto row = versions->second.upper_bound(version);
    if (row == versions->second.begin()) return nullptr;
    return &std::prev(row)->second;
}

bool Registry::knows(std::string_view domain, std::string_view name) const {
    return m_rows.contains(keyOf(domain, name));
}

std::vector<const OpDef*> Registry::rows() const {
    std::vector<const OpDef*> all;
    for (const auto& [key, versions] : m_rows) {
        for (const auto& [since, def] : versions) all.push_back(&def);
    }
    return all;
}

}  // namespace sonde::ops
