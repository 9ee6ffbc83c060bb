#include <algorithm>

#include "core/analysis/axis_rules.h"
#include "core/graph/traits.h"
#include "core/operators/tables.h"
#include "core/tensor/symbolic.h"

namespace sonde::analysis::axes {

using operators::CostRule;
using operators::OpClass;
using tensor::Dim;
using tensor::Value;

namespace {

using Ints = std::vector<std::int64_t>;

bool isAten(const CallArguments& call) { return call.expr().op.domain == "aten"; }

/// Batch and channels: all of the channels come together unless they are kept. `spatial`: how many axes behind them.
std::vector<AxisMove> behindChannels(const Operand& operand, std::size_t spatial, bool keepsChannels) {
    std::vector<AxisMove> moves = moved(operand);
    const std::size_t rank = rankOf(operand.type);
    if (rank < spatial || rank != rankOf(operand.result)) return {};
    if (!keepsChannels && rank > spatial) moves[rank - spatial - 1].axis.reset();
    return moves;
}

/// The axes of the weight behind its channels; empty if they are not known.
Ints kernelOf(const CallArguments& call) {
    Ints kernel = call.expr().attributes.getInts("kernel_shape");
    if (!kernel.empty()) return kernel;
    const std::size_t found = graph::traitsOf(call.expr()).inputs.find_first_of("WQ");
    const tensor::TypeInfo weight = call.type(found == std::string_view::npos ? 1 : found);
    for (std::size_t i = 2; weight.shape && i < weight.shape->size(); ++i) {
        if (!(*weight.shape)[i].known()) return {};
        kernel.push_back((*weight.shape)[i].value);
    }
    return kernel;
}

/// One number for all axes, or one for each; `otherwise` if it is left out.
std::optional<Ints> spread(const Value& value, std::size_t count, std::optional<std::int64_t> otherwise) {
    std::optional<Ints> found = value.isNone() && otherwise ? Ints{*otherwise} : CallArguments::integers(value);
    if (found && found->empty() && otherwise) found = Ints{*otherwise};
    if (found && found->size() == 1) found->resize(count, found->front());
    return found && found->size() >= count ? found : std::nullopt;
}

/// auto_pad and padding by words keep windows in the middle: the operand's own sizes decide by how much. Half a window
/// in front is what they come to, but for a pixel where it is even.
std::int64_t halfPadding(std::int64_t kernel, std::int64_t dilation) { return dilation * (kernel - 1) / 2; }

struct Windows {
    Ints kernel, stride, dilation, padding;
};

std::optional<Windows> onnxWindows(const CallArguments& call, Ints kernel) {
    const tensor::Attributes& attributes = call.expr().attributes;
    const std::size_t count = kernel.size();
    Windows windows{std::move(kernel), attributes.getInts("strides", Ints(count, 1)),
                    attributes.getInts("dilations", Ints(count, 1)), attributes.getInts("pads", Ints(count, 0))};
    if (windows.stride.size() < count || windows.dilation.size() < count || windows.padding.size() < count)
        return std::nullopt;
    if (attributes.getString("auto_pad", "NOTSET").starts_with("SAME"))
        for (std::size_t i = 0; i < count; ++i)
            windows.padding[i] = halfPadding(windows.kernel[i], windows.dilation[i]);
    return windows;
}

std::optional<Windows> atenWindows(const CallArguments& call, Ints kernel, bool isPool) {
    const std::size_t count = kernel.size();
    Windows windows{kernel, kernel, Ints(count, 1), Ints(count, 0)};
    const Value stride = call.named("stride");
    const bool isGiven = stride.isNumber() || (stride.isListLike() && !stride.items().empty());
    if (isGiven || !isPool) {
        const auto given = spread(stride, count, 1);
        if (!given) return std::nullopt;
        windows.stride = *given;
    }
    if (call.has("dilation")) {
        const auto given = spread(call.named("dilation"), count, 1);
        if (!given) return std::nullopt;
        windows.dilation = *given;
    }
    const Value padding = call.named("padding");
    if (padding.kind() == tensor::ValueKind::String) {
        for (std::size_t i = 0; i < count && padding.toString() == "same"; ++i)
            windows.padding[i] = halfPadding(windows.kernel[i], windows.dilation[i]);
        return windows;
    }
    const auto given = spread(padding, count, 0);
    if (!given) return std::nullopt;
    windows.padding = *given;
    return windows;
}

void applyWindows(std::vector<AxisMove>& moves, const Windows& windows, bool isTransposed) {
    const std::size_t count = windows.kernel.size(), first = moves.size() - count;
    for (std::size_t i = 0; i < count; ++i) {
        const auto make = isTransposed ? &AxisReading::transposed : &AxisReading::window;
        moves[first + i].reading = make(windows.kernel[i], windows.stride[i], windows.dilation[i], windows.padding[i]);
    }
}

/// Cells of a grid: what an adaptive pool gives for a size that is no multiple is not the same for every cell.
void applyGrid(std::vector<AxisMove>& moves, const Operand& operand, std::size_t spatial) {
    for (std::size_t axis = moves.size() - spatial; axis < moves.size(); ++axis) {
        const Dim &from = (*operand.type.shape)[axis], &to = (*operand.result.shape)[axis];
        if (from == to && (from.known() || !from.symbol.empty())) continue;
        const bool isEven = from.known() && to.known() && to.value > 1 && from.value % to.value == 0;
        if (!isEven) moves[axis].axis.reset();
        else moves[axis].reading = AxisReading::window(from.value / to.value, from.value / to.value, 1, 0);
    }
}

}  // namespace

std::vector<AxisMove> convolved(const CallArguments& call, const Operand& operand) {
    if (operand.argument != 0) return {};
    const Ints kernel = kernelOf(call);
    const std::size_t rank = rankOf(operand.type);
    if (kernel.empty() || rank < kernel.size() + 1) return {};
    const bool isTransposed = graph::traitsOf(call.expr()).opClass == OpClass::ConvTranspose ||
                              CallArguments::integer(call.named("transposed")).value_or(0) != 0;
    const auto windows = isAten(call) ? atenWindows(call, kernel, false) : onnxWindows(call, kernel);
    std::vector<AxisMove> moves = behindChannels(operand, kernel.size(), false);
    if (!windows || moves.empty()) return {};
    applyWindows(moves, *windows, isTransposed);
    return moves;
}

std::vector<AxisMove> pooled(const CallArguments& call, const Operand& operand) {
    if (operand.argument != 0) return {};
    const std::size_t rank = rankOf(operand.type);
    if (isAten(call) && !call.has("kernel_size")) {
        const std::size_t spatial = graph::traitsOf(call.expr()).spatialDims;
        std::vector<AxisMove> moves = behindChannels(operand, spatial, true);
        if (!moves.empty()) applyGrid(moves, operand, spatial);
        return moves;
    }
    Ints kernel = call.expr().attributes.getInts("kernel_shape");
    if (isAten(call)) {
        const std::size_t spatial = graph::traitsOf(call.expr()).spatialDims;
        kernel = spread(call.named("kernel_size"), spatial, std::nullopt).value_or(Ints());
    } else if (kernel.empty() && rank > 2) {  // global
        std::vector<AxisMove> moves = behindChannels(operand, rank - 2, true);
        for (std::size_t axis = 2; axis < moves.size(); ++axis) moves[axis].axis.reset();
        return moves;
    }
    if (kernel.empty() || rank < kernel.size() + 1) return {};
    const auto windows = isAten(call) ? atenWindows(call, kernel, true) : onnxWindows(call, kernel);
    std::vector<AxisMove> moves = behindChannels(operand, kernel.size(), true);
    if (!windows || moves.empty()) return {};
    applyWindows(moves, *windows, false);
    return moves;
}

namespace {

/// Of each axis, as far as arguments tell: ONNX has them for all axes, ATen for those behind the channels.
std::vector<double> scalesOf(const CallArguments& call, std::size_t rank) {
    std::vector<double> scales = call.expr().attributes.getFloats("scales");
    const auto take = [&scales](const Value& value) {
        if (value.isListLike())
            for (const Value& item : value.items()) scales.push_back(item.isNumber() ? item.number() : 0);
        else if (value.isTensor() && tensor::isFloating(value.tensor().dtype()) && value.tensor().numel() <= 8)
            for (std::int64_t i = 0; i < value.tensor().numel(); ++i) scales.push_back(value.tensor().toDouble(i));
    };
    if (isAten(call)) {
        take(call.named("scale_factors"));
        if (!scales.empty() && scales.size() < rank) scales.insert(scales.begin(), rank - scales.size(), 1.0);
    } else {
        for (std::size_t i = 1; i < 3 && scales.size() != rank; ++i) take(call.at(i));
    }
    return scales.size() == rank ? scales : std::vector<double>(rank, 0);
}

/// How many results there are for each index; 0 if that is no whole number, or not known.
std::int64_t enlargement(const Dim& from, const Dim& to, double scale) {
    if (from.known() && to.known()) return from.value > 0 && to.value % from.value == 0 ? to.value / from.value : 0;
    if (scale >= 1 && scale < 64 && static_cast<double>(static_cast<std::int64_t>(scale)) == scale)
        return static_cast<std::int64_t>(scale);
    constexpr std::int64_t kUsual[] = {2, 3, 4, 8, 16};
    const tensor::Symbolic size = tensor::Symbolic::of(from), result = tensor::Symbolic::of(to);
    for (const std::int64_t factor : kUsual)
        if (size.known() && result.known() && size * tensor::Symbolic::of(factor) == result) return factor;
    return 0;
}

/// How many neighbours on each side interpolation may take, wherever its grid is placed.
std::int64_t neighbours(const CallArguments& call) {
    const graph::OpKey& op = call.expr().op;
    const CostRule rule = operators::costRuleOf(op.domain, op.name);
    if (isAten(call)) return rule == CostRule::ByClass ? 0 : rule == CostRule::Linear ? 1 : 2;
    const std::string mode = call.expr().attributes.getString("mode", op.domain.empty() ? "nearest" : "");
    return mode == "nearest" ? 0 : mode == "linear" ? 1 : 2;
}

/// Whether pixels are where their centres are: not at the corners, and not counted from the first one's corner.
bool isHalfPixel(const CallArguments& call) {
    if (isAten(call)) return call.has("align_corners") && CallArguments::integer(call.named("align_corners")) == 0;
    const graph::Expr& expr = call.expr();
    const std::string mode = expr.attributes.getString("coordinate_transformation_mode", "half_pixel");
    return expr.op.version >= 11 && (mode == "half_pixel" || mode == "pytorch_half_pixel");
}

}  // namespace

/// By whole factors; with others every pixel has a pattern of its own.
std::vector<AxisMove> resampled(const CallArguments& call, const Operand& operand) {
    if (operand.argument != 0 || rankOf(operand.type) != rankOf(operand.result)) return {};
    std::vector<AxisMove> moves = moved(operand);
    const std::int64_t more = neighbours(call);
    const std::vector<double> scales = scalesOf(call, rankOf(operand.type));
    for (std::size_t axis = 0; axis < moves.size(); ++axis) {
        const Dim &from = (*operand.type.shape)[axis], &to = (*operand.result.shape)[axis];
        if (from == to && (from.known() || !from.symbol.empty())) continue;
        const std::int64_t up = enlargement(from, to, scales[axis]);
        if (up == 1) continue;
        const bool isSmaller = from.known() && to.known() && to.value > 0 && from.value % to.value == 0;
        const std::int64_t down = isSmaller ? from.value / to.value : 0;
        if (up > 1 && more == 1 && isHalfPixel(call)) moves[axis].reading = AxisReading::interpolated(up);
        else if (up > 1) moves[axis].reading = AxisReading::enlarged(up, more);
        else if (down > 1) moves[axis].reading = {.stride = down, .scale = 1, .first = -more, .last = down - 1 + more};
        else moves[axis].axis.reset();
    }
    return moves;
}

/// ONNX: begins of all axes, then ends. ATen: (begin, end) of the last axis, of the one before …
std::vector<AxisMove> padded(const CallArguments& call, const Operand& operand) {
    const std::size_t rank = rankOf(operand.type);
    if (operand.argument != 0 || rank != rankOf(operand.result)) return {};
    std::vector<AxisMove> moves = moved(operand);
    Ints begins(rank, 0);
    if (isAten(call)) {
        const auto pads = CallArguments::integers(call.at(1));
        if (!pads || pads->size() > 2 * rank) return {};
        for (std::size_t i = 0; i + 1 < pads->size(); i += 2) begins[rank - 1 - i / 2] = (*pads)[i];
    } else {
        Ints pads = call.expr().attributes.getInts("pads");
        if (pads.empty()) pads = CallArguments::integers(call.at(1)).value_or(Ints());
        if (pads.size() != 2 * rank) return {};
        std::copy_n(pads.begin(), rank, begins.begin());
    }
    const std::string mode = isAten(call) ? "" : call.expr().attributes.getString("mode", "constant");
    for (std::size_t axis = 0; axis < rank; ++axis) {
        if ((*operand.type.shape)[axis] == (*operand.result.shape)[axis] && begins[axis] == 0) continue;
        moves[axis].reading = {.stride = 1, .scale = 1, .first = -begins[axis], .last = -begins[axis]};
        if (mode == "wrap") moves[axis].axis.reset();  // from the other end
    }
    return moves;
}

namespace {

std::optional<std::int64_t> blockSize(const CallArguments& call, std::size_t rank) {
    const auto block = isAten(call) ? CallArguments::integer(call.at(1))
                                    : std::optional(call.expr().attributes.getInt("blocksize", 0));
    return block && *block > 0 && rank >= 3 ? block : std::nullopt;
}

}  // namespace

std::vector<AxisMove> toBlocks(const CallArguments& call, const Operand& operand) {
    const auto block = blockSize(call, rankOf(operand.type));
    std::vector<AxisMove> moves = behindChannels(operand, 2, false);
    if (!block || moves.empty()) return {};
    for (std::size_t axis = moves.size() - 2; axis < moves.size(); ++axis)
        moves[axis].reading = AxisReading::enlarged(*block, 0);
    return moves;
}

std::vector<AxisMove> fromBlocks(const CallArguments& call, const Operand& operand) {
    const auto block = blockSize(call, rankOf(operand.type));
    std::vector<AxisMove> moves = behindChannels(operand, 2, false);
    if (!block || moves.empty()) return {};
    for (std::size_t axis = moves.size() - 2; axis < moves.size(); ++axis)
        moves[axis].reading = AxisReading::window(*block, *block, 1, 0);
    return moves;
}

}  // namespace sonde::analysis::axes
