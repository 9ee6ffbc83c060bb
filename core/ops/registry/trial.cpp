#include "core/ops/registry/trial.h"

#include <algorithm>
#include <exception>
#include <map>
#include <set>

#include "core/tensor/allocation_limit.h"

namespace sonde::ops {

using tensor::Dim;
using tensor::Symbolic;
using tensor::ValueKind;

namespace {

/// More than this is left to the run.
constexpr std::int64_t kMaxElements = std::int64_t{1} << 22;
constexpr std::size_t kMaxBytes = std::size_t{1} << 26;
/// Larger than any number that a shape is made of here: a loop could follow it.
constexpr double kMaxNumber = 1 << 20;
constexpr std::size_t kMaxSymbols = 6;
/// Trial sizes and their steps: divisible, so that halves and thirds are whole.
constexpr std::int64_t kFirstSize = 12, kStep = 12;

/// Dimensions of the results of these depend on the numbers.
bool dependsOnData(const OpDef& op, const InferContext& context) {
    // clang-format off
    static const std::set<std::string_view> names{"nonzero", "nonzero_numpy", "argwhere", "masked_select", "_unique", "_unique2", "unique_consecutive", "unique_dim",
                                                  "unique_dim_consecutive", "bincount", "nms", "_pack_padded_sequence", "_pad_packed_sequence", "histc"};
    // clang-format on
    const std::string_view name = op.name, base = name.substr(0, name.find('.'));
    if (names.contains(base) || name == "where" || name == "repeat_interleave.Tensor") return true;
    if (name == "repeat_interleave.self_Tensor") return context.constant("repeats").isNone();
    if (base == "one_hot") {
        const Value& classes = context.constant("num_classes");
        return classes.kind() != ValueKind::Int || classes.toInt() < 0;
    }
    // The parts, or the labels: another name in each overload.
    if (base == "tensor_split" || base == "ctc_loss") return context.constant(kRight).isNone();
    if (base == "embedding_bag")
        return context.has("offsets") && context.constant("offsets").isNone() && !context.in("offsets").staticShape();
    if (base == "index")
        return std::ranges::any_of(context.in("indices").elements, [](const TypeInfo& part) {
            return part.dtype == DType::Bool || part.dtype == DType::UInt8;
        });
    return false;
}

/// Thrown where something is not known that a call needs.
struct NotKnown {};

/// Sizes for symbols, by their names; dimensions without one have a name of their own each.
using Sizes = std::map<std::string, std::int64_t, std::less<>>;

class Trial {
  public:
    Trial(const OpDef& op, const InferContext& context) : m_op(op), m_context(context), m_pool(1) {
        m_environment.pool = &m_pool;
    }

    /// All sizes that the inputs depend on, at their first values. Throws NotKnown.
    void collect() {
        for (std::size_t i = 0; i < m_context.inputCount(); ++i) collectType(m_context.in(i), i);
        if (m_sizes.size() > kMaxSymbols) throw NotKnown{};
        m_anonymous = 0;
        std::int64_t next = kFirstSize;
        for (auto& [name, size] : m_sizes) {
            size = next;
            next += kStep;
        }
    }
    const Sizes& sizes() const { return m_sizes; }
    bool isWholeKnown() const { return m_tensors == 0 && m_sizes.empty(); }

    /// The results with these sizes. Throws NotKnown.
    std::vector<Value> run(const Sizes& sizes) {
        m_elements = 0;
        m_anonymous = 0;
        std::vector<Value> inputs;
        for (std::size_t i = 0; i < m_context.inputCount(); ++i) {
            if (!m_context.constant(i).isNone()) {
                inputs.push_back(m_context.constant(i));
                checkNumbers(inputs.back());
            } else if (const auto elements = holdsTensor(m_context.in(i)) ? std::nullopt : m_context.elements(i)) {
                inputs.push_back(numbers(m_context.in(i), *elements, sizes));
            } else {
                inputs.push_back(madeUp(m_context.in(i), sizes));
            }
        }
        tensor::AllocationLimit limit(kMaxBytes);
        try {
            auto results = call(m_op, inputs, m_context.attributes(), m_context.outputCount(), m_environment);
            if (!results || results->size() < m_context.outputCount()) throw NotKnown{};
            return std::move(*results);
        } catch (const std::exception&) {
            throw NotKnown{};
        }
    }

  private:
    void collectType(const TypeInfo& type, std::size_t input) {
        if (m_context.constant(input).isNone() && type.shape && type.isTensor()) {
            ++m_tensors;
            for (const Dim& dim : *type.shape) {
                if (!dim.known()) symbolsOf(dim);
            }
        }
        if (!m_context.constant(input).isNone()) return;
        if (isOpenNumber(type) && !m_context.elements(input)) {
            ++m_tensors;
            if (type.kind == ValueKind::Int) m_sizes.emplace("?" + std::to_string(m_anonymous++), 0);
        }
        for (const TypeInfo& element : type.elements) collectType(element, input);
    }
    static bool holdsTensor(const TypeInfo& type) {
        return type.isTensor() || std::ranges::any_of(type.elements, holdsTensor);
    }
    static bool isOpenNumber(const TypeInfo& type) {
        return type.kind == ValueKind::Int || type.kind == ValueKind::Float || type.kind == ValueKind::Bool;
    }
    void symbolsOf(const Dim& dim) {
        if (dim.symbol.empty()) {
            m_sizes.emplace("?" + std::to_string(m_anonymous++), 0);
            return;
        }
        (void)Symbolic::of(dim).bound([this](std::string_view symbol) -> std::optional<std::int64_t> {
            m_sizes.emplace(symbol, 0);
            return 1;
        });
    }

    static void checkNumbers(const Value& value) {
        if (value.isNumber() && value.kind() != ValueKind::Float && std::abs(value.number()) > kMaxNumber &&
            std::abs(value.number()) < 9e18)
            throw NotKnown{};
        if (value.isListLike()) {
            for (const Value& item : value.items()) checkNumbers(item);
        }
    }

    static std::int64_t bound(const Symbolic& number, const Sizes& sizes) {
        const Symbolic fixed = number.bound([&sizes](std::string_view symbol) -> std::optional<std::int64_t> {
            const auto found = sizes.find(symbol);
            return found == sizes.end() ? std::nullopt : std::optional(found->second);
        });
        const auto value = fixed.constant();
        if (!value) throw NotKnown{};
        return *value;
    }

    static Value numbers(const TypeInfo& type, const Elements& elements, const Sizes& sizes) {
        tensor::ValueList items;
        for (const Symbolic& element : elements) items.push_back(Value::ofInt(bound(element, sizes)));
        checkNumbers(Value::list(items));
        if (type.kind == ValueKind::Int && items.size() == 1) return items.front();
        if (type.kind == ValueKind::List) return Value::list(std::move(items));
        if (type.kind == ValueKind::Tuple) return Value::tuple(std::move(items));
        throw NotKnown{};
    }

    Value madeUp(const TypeInfo& type, const Sizes& sizes) {
        if (type.kind == ValueKind::None) return {};
        if (type.kind == ValueKind::Int) return Value::ofInt(sizes.at("?" + std::to_string(m_anonymous++)));
        if (type.kind == ValueKind::Float) return Value::ofFloat(0.5);
        if (type.kind == ValueKind::Bool) return Value::ofBool(false);
        if (type.isTensor() && type.dtype != DType::Undefined && type.shape) return Value(tensorOf(type, sizes));
        // A list of one type may hold any number of it.
        const bool isWhole =
            type.kind == ValueKind::Tuple || (type.kind == ValueKind::List && type.elements.size() > 1);
        if (!isWhole) throw NotKnown{};
        tensor::ValueList items;
        for (const TypeInfo& element : type.elements) items.push_back(madeUp(element, sizes));
        return type.kind == ValueKind::List ? Value::list(std::move(items)) : Value::tuple(std::move(items));
    }

    /// Numbers from 0 to 1 that differ; whole ones are 0, which is a valid index.
    Tensor tensorOf(const TypeInfo& type, const Sizes& sizes) {
        std::vector<std::int64_t> dims;
        for (const Dim& dim : *type.shape) {
            if (dim.known()) dims.push_back(dim.value);
            else if (dim.symbol.empty()) dims.push_back(sizes.at("?" + std::to_string(m_anonymous++)));
            else dims.push_back(bound(Symbolic::of(dim), sizes));
        }
        const Shape shape(dims);
        const auto count = shape.checkedNumel();
        if (!count || *count > kMaxElements - m_elements) throw NotKnown{};
        m_elements += *count;
        auto zeros = Tensor::zeros(tensor::isFloating(type.dtype) ? DType::Float32 : type.dtype, shape);
        if (!zeros) throw NotKnown{};
        if (tensor::isFloating(type.dtype)) {
            float* data = zeros->mutableData<float>();
            for (std::int64_t i = 0; i < *count; ++i) data[i] = static_cast<float>(i * 7919 % 1009 + 1) / 1010.0F;
        }
        auto typed = zeros->cast(type.dtype);
        if (!typed) throw NotKnown{};
        return std::move(*typed);
    }

    const OpDef& m_op;
    const InferContext& m_context;
    base::ThreadPool m_pool;
    RunEnvironment m_environment;
    Sizes m_sizes;
    std::size_t m_tensors = 0;
    std::int64_t m_elements = 0;
    int m_anonymous = 0;
};

Symbolic nameOf(const std::string& symbol) {
    return symbol.front() == '?' ? Symbolic() : Symbolic::of(Dim::named(symbol));
}

/// A dimension in symbols from its values: at the first sizes, with each size one step larger, and at others to prove
/// it.
Dim fitted(std::int64_t base, const std::vector<std::int64_t>& stepped, std::int64_t proof, const Sizes& sizes,
           const Sizes& proofSizes) {
    Symbolic sum = Symbolic::of(base);
    std::int64_t predicted = base;
    bool isSum = true;
    std::size_t i = 0;
    for (const auto& [name, size] : sizes) {
        const std::int64_t change = stepped[i++] - base;
        if (change == 0) continue;
        if (change % kStep != 0) isSum = false;
        const std::int64_t factor = change / kStep;
        sum = sum + Symbolic::of(factor) * (nameOf(name) - Symbolic::of(size));
        predicted += factor * (proofSizes.at(name) - size);
    }
    if (isSum && predicted == proof) return sum.dim();
    // A product of sizes and a number.
    std::int64_t product = 1, proven = 1;
    Symbolic names = Symbolic::of(std::int64_t{1});
    i = 0;
    for (const auto& [name, size] : sizes) {
        if (stepped[i++] == base) continue;
        product *= size;
        proven *= proofSizes.at(name);
        names = names * nameOf(name);
    }
    if (base % product != 0 || base / product * proven != proof) return {};
    return (Symbolic::of(base / product) * names).dim();
}

/// The types of values that differ in dimensions.
TypeInfo typeOf(const std::vector<const Value*>& values, const Sizes& sizes, const Sizes& proofSizes, bool open) {
    const Value& first = *values.front();
    TypeInfo type = TypeInfo::of(first);
    if (first.isListLike()) {
        for (std::size_t item = 0; item < first.items().size() && item < type.elements.size(); ++item) {
            std::vector<const Value*> inside;
            for (const Value* value : values) {
                if (!value->isListLike() || value->items().size() != first.items().size()) throw NotKnown{};
                inside.push_back(&value->items()[item]);
            }
            type.elements[item] = typeOf(inside, sizes, proofSizes, open);
        }
        return type;
    }
    if (!first.isTensor()) return type;
    for (std::size_t axis = 0; axis < first.tensor().rank(); ++axis) {
        std::vector<std::int64_t> dimSizes;
        for (const Value* value : values) {
            if (!value->isTensor() || value->tensor().rank() != first.tensor().rank()) throw NotKnown{};
            dimSizes.push_back(value->tensor().dim(axis));
        }
        Dim& dim = (*type.shape)[axis];
        if (open) dim = {};
        else if (dimSizes.size() > 1)
            dim = fitted(dimSizes.front(), {dimSizes.begin() + 1, dimSizes.end() - 1}, dimSizes.back(), sizes,
                         proofSizes);
    }
    return type;
}

void tryOut(const OpDef& op, InferContext& context) {
    Trial trial(op, context);
    trial.collect();
    const Sizes& sizes = trial.sizes();
    std::vector<std::vector<Value>> runs{trial.run(sizes)};
    Sizes proofSizes;
    if (!sizes.empty()) {
        for (const auto& [name, size] : sizes) {
            Sizes stepped = sizes;
            stepped[name] += kStep;
            runs.push_back(trial.run(stepped));
            proofSizes[name] = size + kStep * static_cast<std::int64_t>(proofSizes.size() + 2);
        }
        runs.push_back(trial.run(proofSizes));
    }
    const bool open = !trial.isWholeKnown() && dependsOnData(op, context);
    for (std::size_t i = 0; i < context.outputCount(); ++i) {
        std::vector<const Value*> values;
        for (const auto& run : runs) values.push_back(&run[i]);
        context.set(i, typeOf(values, sizes, proofSizes, open));
        if (trial.isWholeKnown() && !op.random) context.setKnown(i, *values.front());
    }
}

/// What the schema says of its results.
TypeInfo declared(std::string_view type) {
    TypeInfo result;
    if (type.starts_with("Tensor[]")) {
        result.kind = ValueKind::List;
        result.elements = {TypeInfo::tensor(DType::Undefined)};
    } else if (type.starts_with("Tensor")) {
        result = TypeInfo::tensor(DType::Undefined);
    } else if (type == "int" || type.starts_with("int ")) {
        result.kind = ValueKind::Int;
    } else if (type.starts_with("float")) {
        result.kind = ValueKind::Float;
    } else if (type.starts_with("bool")) {
        result.kind = ValueKind::Bool;
    }
    return result;
}

}  // namespace

void inferByTrial(const OpDef& op, InferContext& context) {
    if (op.outputs.empty()) {
        TypeInfo none;
        none.kind = ValueKind::None;
        context.set(std::move(none));
        return;
    }
    for (std::size_t i = 0; i < context.outputCount() && i < op.outputs.size(); ++i)
        context.set(i, declared(op.outputs[i].name));
    try {
        tryOut(op, context);
    } catch (const NotKnown&) {
        // The schema's types stay.
    }
}

void defineTrials(Registry& registry) {
    for (const OpDef* row : registry.rows()) {
        const bool hasBodies = row->name == "If" || row->name == "Loop" || row->name == "cond";
        if ((row->domain != "aten" && row->domain != "prim" && row->domain != "torchvision") || row->infer ||
            !row->kernel || hasBodies)
            continue;
        OpDef tried = *row;
        const OpDef bare = *row;
        tried.infer = [bare](InferContext& context) -> base::Result<void> {
            inferByTrial(bare, context);
            return {};
        };
        registry.add(std::move(tried));
    }
}

}  // namespace sonde::ops
