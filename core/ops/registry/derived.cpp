// Rows that follow from others: other names that PyTorch has for the same operator, and in-place forms.

#include "core/ops/registry/derived.h"

#include <algorithm>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/operators/names.h"
#include "core/operators/traits.h"
#include "core/ops/registry/registry.h"
#include "core/tensor/casting.h"

namespace sonde::ops {

namespace {

/// Names live as long as the program: rows hold views of them.
std::string_view kept(std::string text) {
    static std::deque<std::string> names;
    return names.emplace_back(std::move(text));
}

using operators::Alias;

std::string_view baseOf(std::string_view name) { return operators::withoutOverload(name); }

/// The rows of ATen by what stands before their overload's name.
class RowsByBase {
  public:
    explicit RowsByBase(Registry& registry) : m_registry(registry) {
        for (const OpDef* row : registry.rows()) {
            if (row->domain == "aten") m_rows[baseOf(row->name)].push_back(row);
        }
    }
    /// A copy: rows may be added while one walks through.
    std::vector<const OpDef*> of(std::string_view base) const {
        const auto found = m_rows.find(base);
        return found == m_rows.end() ? std::vector<const OpDef*>() : found->second;
    }
    void add(OpDef row) {
        const std::string_view name = row.name;
        m_registry.add(std::move(row));
        m_rows[baseOf(name)].push_back(m_registry.find("aten", name, 0));
    }

  private:
    Registry& m_registry;
    std::unordered_map<std::string_view, std::vector<const OpDef*>> m_rows;
};

std::string renamed(const OpDef& row, const std::string& base) {
    return base + std::string(row.name.substr(baseOf(row.name).size()));
}

constexpr std::size_t kNoSource = static_cast<std::size_t>(-1);

/// The argument of an operator that moves elements and takes them of the tensor's own type alone.
std::size_t sourceOf(const OpDef& row, std::string_view base) {
    const bool moves = base == "index_add" || base == "index_copy" || base == "index_put" || base == "masked_scatter" ||
                       base == "put" || base == "lerp" || base.starts_with("scatter");
    for (std::size_t i = 1; moves && i < row.parameters.size(); ++i) {
        const std::string_view name = row.parameters[i].name;
        const bool isSource = name == "source" || name == "src" || name == "values" || name == "end";
        if (isSource && row.parameters[i].type == "Tensor") return i;
    }
    return kNoSource;
}

/// What is written back has the dtype of what it is written to, and its shape: nothing is broadcast there.
std::function<base::Result<void>(KernelContext&)> writingBack(const OpDef& row, std::string_view inPlaceName) {
    const operators::Traits& traits = operators::traitsOf("aten", inPlaceName);
    const std::string base(baseOf(operators::outOfPlaceName(inPlaceName)));
    // Running sums are computed in the tensor's own dtype.
    const bool converts = traits.is(operators::Trait::ConvertsValues) || base == "cumsum" || base == "cumprod";
    return [kernel = row.kernel, keepsShape = !traits.memory.reforms, isArithmetic = !converts,
            source = sourceOf(row, base)](KernelContext& context) -> base::Result<void> {
        const DType dtype = context.value(kOperand).isTensor() ? context.in(kOperand).dtype() : DType::Undefined;
        const tensor::Shape shape = context.value(kOperand).isTensor() ? context.in(kOperand).shape() : tensor::Shape{};
        if (source != kNoSource && context.has(source) && context.value(source).isTensor() &&
            context.in(source).dtype() != dtype) {
            return base::runError("what is written must have the dtype of the tensor, " +
                                  std::string(tensor::name(dtype)) + ", but is " +
                                  std::string(tensor::name(context.in(source).dtype())));
        }
        SONDE_TRY(kernel(context));
        std::vector<Value> outputs = context.takeOutputs();
        const bool isTensor = dtype != DType::Undefined && !outputs.empty() && outputs.front().isTensor();
        if (keepsShape && isTensor && outputs.front().tensor().shape() != shape) {
            return base::runError("output with shape " + shape.text() + " doesn't match the broadcast shape " +
                                  outputs.front().tensor().shape().text());
        }
        if (isArithmetic && isTensor && !tensor::canCast(outputs.front().tensor().dtype(), dtype)) {
            return base::runError("result type " + std::string(tensor::name(outputs.front().tensor().dtype())) +
                                  " can't be cast to the desired output type " + std::string(tensor::name(dtype)));
        }
        if (!outputs.empty() && outputs.front().isTensor() && dtype != DType::Undefined &&
            outputs.front().tensor().dtype() != dtype) {
            SONDE_ASSIGN(Tensor narrowed, outputs.front().tensor().cast(dtype));
            outputs.front() = Value(std::move(narrowed));
        }
        context.setOutputs(std::move(outputs));
        return {};
    };
}

std::function<base::Result<void>(InferContext&)> inferringBack(std::function<base::Result<void>(InferContext&)> infer) {
    if (!infer) return {};
    return [infer = std::move(infer)](InferContext& context) -> base::Result<void> {
        SONDE_TRY(infer(context));
        if (context.outputs().empty() || context.in(kOperand).dtype == DType::Undefined) return {};
        TypeInfo type = context.outputs().front();
        type.dtype = context.in(kOperand).dtype;
        context.set(std::move(type));
        return {};
    };
}

}  // namespace

std::string_view originalName(std::string_view name) { return operators::originalName(name); }

void defineDerived(Registry& registry) {
    // In-place forms that stand beside their operators compute as those do: what they write back has the tensor's
    // dtype.
    for (const OpDef* row : registry.rows()) {
        if (row->domain != "aten" || !operators::isInPlaceName(row->name)) continue;
        OpDef copy = *row;
        copy.kernel = writingBack(*row, row->name);
        copy.infer = inferringBack(row->infer);
        registry.add(std::move(copy));
    }
    RowsByBase rows(registry);
    for (const Alias& alias : operators::aliases()) {
        for (const OpDef* row : rows.of(alias.original)) {
            const std::string name = renamed(*row, std::string(alias.name));
            if (registry.knows("aten", name)) continue;
            OpDef copy = *row;
            copy.name = kept(name);
            rows.add(std::move(copy));
        }
    }
    for (const Alias& alias : operators::exactAliases()) {
        const OpDef* row = registry.find("aten", alias.original, 0);
        if (!row) continue;
        OpDef copy = *row;
        copy.name = alias.name;
        if (operators::isInPlaceName(alias.name)) {
            // transpose_ and the like are another shape of the same elements.
            copy.kernel = writingBack(*row, alias.name);
            copy.infer = inferringBack(row->infer);
        }
        rows.add(std::move(copy));
    }
    for (const std::string_view base : operators::operatorsWithInPlaceForm()) {
        const std::string inPlace = operators::inPlaceName(base);
        // The exact names are there: swapaxes_.
        if (std::ranges::find(operators::exactAliases(), inPlace, &Alias::name) != operators::exactAliases().end())
            continue;
        for (const OpDef* row : rows.of(base)) {
            const std::string name = renamed(*row, inPlace);
            if (registry.knows("aten", name) || row->parameters.empty() || row->parameters.front().type != "Tensor")
                continue;
            OpDef copy = *row;
            copy.name = kept(name);
            copy.kernel = writingBack(*row, inPlace);
            copy.infer = inferringBack(row->infer);
            rows.add(std::move(copy));
        }
    }
}

}  // namespace sonde::ops
