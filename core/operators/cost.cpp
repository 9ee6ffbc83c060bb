#include "core/operators/cost.h"

#include <algorithm>

#include "core/operators/cost_rules.h"
#include "core/operators/traits.h"

namespace sonde::operators {

using tensor::TypeInfo;
using tensor::Value;

namespace {

/// Mean and variance over a part of each element's neighbours.
Work norm(const CallReader& call, std::int64_t plain, std::size_t parameters) {
    const std::size_t others = call.tensorCount() - std::min<std::size_t>(call.tensorCount(), 1);
    return Work::of(call.out() * number(plain + static_cast<std::int64_t>(std::min(others, parameters))));
}

/// For each element of the result its square, the squares of a window of channels, scale, shift, power and quotient.
Work localNorm(const CallReader& call) {
    const auto size = call.isAten() ? call.integer(1) : std::optional(call.attribute("size", 0));
    return size && *size > 0 ? Work::of(call.out() * number(*size + 5)) : Work{};
}

/// Operators whose class is no more than that their elements are computed one by one, or moved.
Work byTraits(const CallReader& call) {
    const Traits& traits = call.traits();
    if (traits.is(Trait::MovesData) || traits.memory.sharing == Sharing::View ||
        traits.memory.sharing == Sharing::Holds || traits.query != ShapeQuery::None)
        return Work::none();
    return traits.is(Trait::ElementWise) ? Work::of(call.out()) : Work{};
}

Work convolutionOrTransposed(const CallReader& call) {
    if (!call.traits().is(Trait::MayTranspose)) return convolution(call);
    const auto transposed = call.integer(6);  // (input, weight, bias, stride, padding, dilation, transposed, …)
    if (!transposed) return {};
    return *transposed != 0 ? transposedConvolution(call) : convolution(call);
}

Work byClass(const CallReader& call) {
    switch (call.traits().opClass) {
        case OpClass::Conv: return convolutionOrTransposed(call);
        case OpClass::ConvTranspose: return transposedConvolution(call);
        case OpClass::Linear:
        case OpClass::MatMul:
        case OpClass::MatrixProduct:
        case OpClass::AddMatrixProduct:
        case OpClass::BatchMatrixProduct: return matrixProduct(call);
        case OpClass::Recurrent: return recurrent(call);
        case OpClass::MultiHeadAttention: return selfAttention(call);
        case OpClass::EncoderLayer: return encoderLayer(call);
        case OpClass::BatchNorm: return Work::of(number(2) * call.out());
        case OpClass::LayerNorm: return norm(call, 5, 2);
        case OpClass::MaxPool:
        case OpClass::AveragePool: return pooling(call);
        case OpClass::Resample: return resampling(call, CostRule::ByClass);
        case OpClass::Softmax: return Work::of(number(5) * call.out());
        case OpClass::Sum:
        case OpClass::Reduce: return Work::of(call.in());
        case OpClass::Mean: return Work::of(call.in() + call.out());
        case OpClass::Dequantize: return Work::of(number(2) * call.out());
        case OpClass::Dropout:
        case OpClass::Cast:
        case OpClass::Embedding:
        case OpClass::Index:
        case OpClass::Create:
        case OpClass::Range:
        case OpClass::Copy:
        case OpClass::Fill:
        case OpClass::Zero:
        case OpClass::SetItem:
        case OpClass::Construct:
        case OpClass::ConstructTuple:
        case OpClass::ConstructDict:
        case OpClass::Unpack:
        case OpClass::Append:
        case OpClass::GetAttr:
        case OpClass::Assertion:
        case OpClass::Marker: return Work::none();
        default: return byTraits(call);
    }
}

Work workOf(const CallReader& call, CostRule rule) {
    const auto tensors = static_cast<std::int64_t>(call.tensorCount());
    switch (rule) {
        case CostRule::ByClass: return byClass(call);
        case CostRule::Unknown: return {};
        case CostRule::Nothing: return Work::none();
        case CostRule::ThreePerElement: return Work::of(number(3) * call.out());
        case CostRule::FivePerElement: return Work::of(number(5) * call.out());
        case CostRule::EachInput: return Work::of(number(std::max<std::int64_t>(tensors - 1, 0)) * call.out());
        case CostRule::MeanOfInputs: return Work::of(number(tensors) * call.out());
        case CostRule::PerInput: return Work::of(call.in());
        case CostRule::TwoPerInput: return Work::of(number(2) * call.in());
        case CostRule::FourPerInput: return Work::of(number(4) * call.in());
        case CostRule::Norm: return norm(call, 5, 2);
        case CostRule::RmsNorm: return norm(call, 3, 1);
        case CostRule::LocalNorm: return localNorm(call);
        case CostRule::Pool: return pooling(call);
        case CostRule::Convolution: return convolution(call);
        case CostRule::Product:
        case CostRule::PackedProduct: return matrixProduct(call);
        case CostRule::Outer: return Work::of(call.out());
        case CostRule::Einsum: return einsumProduct(call);
        case CostRule::Bilinear: return bilinearProduct(call);
        case CostRule::Distances: return distances(call);
        case CostRule::Extremum: return Work::of(tensors > 1 ? call.out() : call.in());
        case CostRule::Attention: return attention(call);
        case CostRule::Fused: return fused(call);
        case CostRule::Linear:
        case CostRule::Cubic: return resampling(call, rule);
    }
    return {};
}

/// Of a tensor, or of all in a tuple; nothing of other values.
Symbolic bytesOf(const CallReader& call, const TypeInfo& type) {
    if (type.isTensor()) {
        if (type.dtype == tensor::DType::Undefined || type.dtype == tensor::DType::String) return {};
        return call.elements(type) * number(static_cast<std::int64_t>(tensor::itemSize(type.dtype)));
    }
    if (!type.kind) return {};
    const bool isTuple = *type.kind == tensor::ValueKind::Tuple;
    if (type.elements.empty()) return isTuple || *type.kind != tensor::ValueKind::List ? number(0) : Symbolic();
    Symbolic sum = number(0);
    for (const TypeInfo& element : type.elements) sum = sum + bytesOf(call, element);
    // How many of one type a list holds is not known; of numbers it is no matter.
    return isTuple || sum == number(0) ? sum : Symbolic();
}

Symbolic bytesOfInput(const CallReader& call, std::size_t index) {
    const Value& constant = call.constant(index);
    if (!constant.isListLike()) return bytesOf(call, call.input(index));
    Symbolic sum = number(0);
    for (const Value& item : constant.items()) sum = sum + bytesOf(call, TypeInfo::of(item));
    return sum;
}

bool hasTensors(const TypeInfo& type) { return type.isTensor() || std::ranges::any_of(type.elements, hasTensors); }

/// Python's x[…] of a list gives what is in it, of a tensor a view, unless tensors pick the elements.
bool isPlainItem(const Call& call, const Traits& traits) {
    if (traits.opClass != OpClass::Index || traits.memory.sharing != Sharing::MaybeView || call.inputs.empty())
        return false;
    return !call.inputs.front().isTensor() || std::ranges::none_of(call.inputs.subspan(1), hasTensors);
}

bool movesNothing(const Call& call, const Traits& traits) {
    switch (traits.opClass) {
        case OpClass::Reshape:
        case OpClass::ExpandDims:
        case OpClass::Append:
        case OpClass::GetAttr:
        case OpClass::Marker: return true;
        default:
            return traits.isIdentityAtInference() || traits.memory.sharing == Sharing::View ||
                   traits.memory.sharing == Sharing::Holds || traits.query != ShapeQuery::None ||
                   isPlainItem(call, traits);
    }
}

/// Those read, and those written.
std::pair<Symbolic, Symbolic> bytesMoved(const Call& call, const CallReader& reader) {
    const Traits& traits = reader.traits();
    if (movesNothing(call, traits)) return {number(0), number(0)};
    Symbolic sum = number(0), results = number(0);
    for (const TypeInfo& output : call.outputs) results = results + bytesOf(reader, output);
    const bool gathers = traits.opClass == OpClass::Embedding || traits.inputRole(0) == InputRole::Embedding;
    for (std::size_t i = 0; i < call.inputs.size(); ++i)
        sum = sum + (gathers && i == 0 ? results : bytesOfInput(reader, i));
    // Of a list of unknown length: all that it has is in the result.
    const bool joins = traits.opClass == OpClass::Concat || traits.opClass == OpClass::Stack;
    return {joins && !sum.known() ? results : sum, results};
}

}  // namespace

Cost costOf(const Call& call) {
    const Traits& traits = traitsOf(call.domain, call.name);
    const CallReader reader(call, traits);
    const Work work = workOf(reader, costRuleOf(call.domain, call.name));
    const auto [read, written] = bytesMoved(call, reader);
    return {work.flops, work.multiplyAdds, read + written, written, read};
}

}  // namespace sonde::operators
